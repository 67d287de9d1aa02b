import pytest

from complabel.errors import PlanError
from complabel.methods import METHODS, get_method
from complabel.paper import PLANS, TABLES, printed_name, published_cells
from complabel.studies import read_plan

SMALL = """
name = "small"
title = "A small study"
datasets = ["synthetic"]
rows = [{ method = "prior" }, { method = "mlcl" }]
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "plan.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_what_a_plan_leaves_out_is_the_papers_protocol(write):
    plan = read_plan(write(SMALL))
    assert (plan.folds, plan.seed) == (10, 0)
    (draw,) = plan.draws
    assert (draw.name, draw.scheme, draw.labels_per_row) == ("uniform", "uniform", 1)
    assert [row.title for row in plan.expanded_rows()] == ["Prior", "MLCL"]


@pytest.mark.parametrize(
    ("text", "place", "complaint"),
    [
        ('colour = "red"' + SMALL, "colour", "no such key"),
        ("folds = 1" + SMALL, "folds", "greater than or equal to 2"),
        (SMALL.replace('"synthetic"', '"scen"'), "the plan", "'scen'"),
        (SMALL.replace('"prior"', '"pior"'), "row 1 (pior), method", "Did you mean 'prior'?"),
        (
            SMALL.replace('"mlcl"', '"*", leave_out = ["x"]'),
            "row 2 (*), leave_out[0]",
            "no method 'x'",
        ),
        (SMALL.replace('"mlcl"', '"mlcl", settings = { bta = 1 }'), "row 2 (mlcl)", "bta"),
        (SMALL.replace('"mlcl"', '"mlcl", none = ["bta"]'), "row 2 (mlcl)", "bta"),
        (
            SMALL.replace('"mlcl"', '"mlcl", grid = { beta = [] }'),
            "row 2 (mlcl), grid.beta",
            "at least 1",
        ),
        (SMALL.replace('"mlcl"', '"mlcl", title = "{gamma}"'), "row 2 (mlcl)", "gamma"),
        (SMALL.replace('"mlcl"', '"prior"'), "the plan", "two rows called 'Prior'"),
        (SMALL.replace('"mlcl"', '"mlcl", title = "A {b"'), "row 2 (mlcl)", "write two"),
        (SMALL.replace('"mlcl"', '"mlcl", title = "sets {1, 2}"'), "row 2 (mlcl)", "write two"),
        (SMALL.replace('"mlcl"', '"mlcl", published = "}"'), "row 2 (mlcl)", "'}}'"),
        (
            SMALL.replace('"mlcl"', '"mlcl", title = "{beta.x}", settings = { beta = 1.0 }'),
            "row 2 (mlcl)",
            "must be a setting of the row (beta)",
        ),
        (
            SMALL.replace('"mlcl"', '"mlcl", epochs = 20'),
            "row 2 (mlcl), epochs",
            "write it under settings, as in settings = { epochs = ... }",
        ),
        (SMALL.replace('"mlcl"', '"mlcl", params = {}'), "row 2 (mlcl), params", "'settings'?"),
        (SMALL.replace('method = "mlcl"', 'methd = "mlcl"'), "row 2, methd", "'method'?"),
        (SMALL.replace('method = "mlcl"', 'title = "x"'), "row 2, method", "this key is missing"),
        (SMALL.replace("title", "titel"), "titel", "did you mean 'title'?"),
        (SMALL.replace("title", "titel"), "title", "this key is missing; every plan needs it"),
        (
            SMALL + 'draws = [{ name = "a", error_rate = 0.1 }]',
            "draw 1 (a), error_rate",
            "mistakes",
        ),
        (SMALL + 'draws = [{ name = "a", xyz = 1 }]', "draw 1 (a), xyz", "known are name, scheme"),
        (SMALL + 'draws = [{ scheme = "biased" }]', "draw 1, name", "every draw needs it"),
        (SMALL + 'draws = ["biased"]', "draw 1", "dictionary"),
        (SMALL.replace('"mlcl"', '"mlcl", settings = { btea = 1 }'), "row 2 (mlcl)", "'beta'?"),
        ('reference = "LIFT"' + SMALL, "the plan", "Prior, MLCL"),
        (SMALL + 'draws = [{ name = "a b" }]', "draw 1 (a b), name", "use letters"),
        (SMALL + 'draws = [{ name = "a", scheme = "odd" }]', "draw 1 (a), scheme", "uniform"),
        (SMALL + 'draws = [{ name = "a" }, { name = "a" }]', "the plan", "two draws called 'a'"),
        ('published = "table7"' + SMALL, "published", "table2, table3"),
        (SMALL.replace('"synthetic"', '{ file = "x.npz" }'), "the plan", '{ name = "mine", file'),
        (
            SMALL.replace('"synthetic"', '{ name = "scene", file = "x.npz" }'),
            "the plan",
            "give your file another name",
        ),
        (SMALL.replace('"synthetic"', '{ name = "a b", file = "x" }'), "files.a b", "letters"),
    ],
)
def test_what_cannot_be_run_is_refused_at_its_key(write, text, place, complaint):
    with pytest.raises(PlanError) as refusal:
        read_plan(write(text))
    problem = next(
        line for line in str(refusal.value).splitlines() if line.startswith(f"  {place}:")
    )
    assert complaint in problem
    assert "plan.toml" in str(refusal.value)


def test_all_that_is_wrong_is_said_at_once(write):
    with pytest.raises(PlanError) as refusal:
        read_plan(write('colour = "red"\nfolds = 0\n' + SMALL))
    assert len(str(refusal.value).splitlines()) == 3


def test_a_file_that_is_no_toml_is_refused_with_its_line(write):
    with pytest.raises(PlanError, match="line 3"):
        read_plan(write('name = "x"\n\ntitle = = 1\n'))


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(PlanError, match=r"nowhere\.toml"):
        read_plan(tmp_path / "nowhere.toml")


def test_a_grid_is_crossed(write):
    grid = '"mlcl", grid = { beta = [0.0, 1.0], epochs = [5, 10] }, none = ["correlation"]'
    plan = read_plan(write(SMALL.replace('"mlcl"', grid)))
    rows = plan.expanded_rows()[1:]
    assert [row.title for row in rows] == [
        "MLCL, beta = 0.0, epochs = 5",
        "MLCL, beta = 0.0, epochs = 10",
        "MLCL, beta = 1.0, epochs = 5",
        "MLCL, beta = 1.0, epochs = 10",
    ]
    assert rows[1].settings == {"correlation": None, "beta": 0.0, "epochs": 10}


@pytest.mark.parametrize("title", ["{beta:>99999999999}", "{beta.real}", "{beta:{beta}}"])
def test_a_title_that_asks_for_more_than_a_setting_is_refused(write, title):
    row = f'"mlcl", title = "{title}", settings = {{ beta = 0.5 }}'
    with pytest.raises(PlanError, match="a name in braces must be a setting"):
        read_plan(write(SMALL.replace('"mlcl"', row)))


def test_titles_and_published_names_can_name_settings(write):
    grid = '"mlcl", title = "b{beta}", published = "{beta:g}", grid = { beta = [0.5, 1.0] }'
    plan = read_plan(write(SMALL.replace('"mlcl"', grid)))
    assert [(row.title, row.published) for row in plan.expanded_rows()[1:]] == [
        ("b0.5", "0.5"),
        ("b1.0", "1"),
    ]


def test_two_braces_stand_for_one(write):
    title = '"mlcl", title = "{{1, 2}}, b{beta}", settings = { beta = 0.5 }'
    plan = read_plan(write(SMALL.replace('"mlcl"', title)))
    assert plan.expanded_rows()[1].title == "{1, 2}, b0.5"


def test_a_star_stands_for_every_method_but_those_left_out(write):
    rows = 'rows = [{ method = "*", leave_out = ["mlcl"] }]'
    plan = read_plan(write(SMALL.replace(SMALL.splitlines()[-1], rows)))
    assert [row.method for row in plan.expanded_rows()] == [n for n in METHODS if n != "mlcl"]


def test_a_quick_plan_takes_what_is_at_hand_and_a_name_of_its_own():
    quick = read_plan("table2").quick(["delicious", "yeast", "corel5k"])
    assert quick.datasets == ["yeast", "corel5k"]
    assert quick.folds == 3
    assert quick.name == "table2-quick"


@pytest.mark.parametrize("name", PLANS)
def test_shipped_plans_can_be_read(name):
    assert read_plan(name).name == name


@pytest.mark.parametrize("name", TABLES)
def test_the_papers_plans_hold_every_published_row_on_every_published_dataset(name):
    plan = read_plan(name)
    assert plan.name == plan.published == name
    cells = published_cells(name)
    assert set(plan.datasets) == {dataset for dataset, *_ in cells}
    assert {draw.scheme for draw in plan.draws} == {scheme for _, scheme, *_ in cells}
    rows = {
        row.published or printed_name(get_method(row.method).base) for row in plan.expanded_rows()
    }
    assert {row for _, _, row, _ in cells} <= rows


def test_a_plan_that_does_not_ship_is_refused():
    with pytest.raises(PlanError, match="table2"):
        read_plan("table7")


def test_a_file_of_ones_own_is_meant_from_the_plans_folder(write, tmp_path):
    own = '"synthetic", { name = "mine", file = "data/mine.npz" }'
    plan = read_plan(write(SMALL.replace('"synthetic"', own)))
    assert plan.datasets == ["synthetic", "mine"]
    assert plan.files == {"mine": str(tmp_path / "data" / "mine.npz")}
    assert type(plan).model_validate_json(plan.model_dump_json()) == plan
    assert plan.quick([]).datasets == ["mine"]


def test_a_plan_that_measures_nothing_is_refused(write):
    with pytest.raises(PlanError, match="nothing to measure"):
        read_plan(write("criteria = false" + SMALL))
