"""Read what a service gives back of a language model, and what the model says.

The table of services says where a line has what. A reply is free text, or JSON such as
``{"named": ["sea"]}``. What the model thought before it answers never counts. A word of a table
must stand at the start of a text, before an end, a dash or punctuation, and nothing behind it may
say another thing.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from complabel._opening import fault
from complabel._services import SERVICES, read_together
from complabel.importers._format import Head, Text, checked_as
from complabel.importers._questions import UNSURE, WORDINGS, Question

FAILED, REFUSED = "requests that failed", "requests that the model refused"
CUT, UNCLEAR = "replies that were cut off", "replies that do not parse"
_SMALL = 1e-4  # a share that changes the fourth digit of a confidence at most
# A hostile text must not take long: braces tried as the start of JSON, letters behind a word.
_MOST_BRACES, _MOST_BEHIND = 100, 10_000

# Full-width signs and curly quotes as plain ones, one for one, so that places stay.
_SIGNS = str.maketrans("\u2018\u2019\u3002\uff0e\uff01\uff0c\u3001\uff1a\uff1b\uff1f", "''..!,,:;?")
_MARKS = " \t\r\n.,;:!?*_`\"'"
_YES = "yes|ja|oui|sí|si|sì|sim|да|はい|是的|是|네|예"
_NO = "no|nein|nee|nej|non|não|nao|нет|いいえ|不是|否|아니[요오]"
_OPEN = (
    r"(?:i am |i'm |it is |it's |ich bin (?:mir )?)?(?:unsure|uncertain|unclear|undecided|unsicher"
    r"|unklar|not (?:sure|certain|clear)|nicht sicher)|(?:i )?(?:cannot|can not|can't) (?:tell|say"
    r"|determine|decide|judge|know)|(?:i )?(?:don't|do not) know|hard to (?:tell|say)"
    r"|ich weiß (?:es )?nicht|je ne sais pas|no (?:lo )?sé|non (?:lo )?so|não sei|не знаю"
    r"|わかりません|分かりません|不确定|不知道"
)
_FORMS = {word: re.compile(f, re.I) for word, f in (("yes", _YES), ("no", _NO), (UNSURE, _OPEN))}
_MARKED = (
    r"(?:(?:the|my|final|die|meine|la|ma|mi|a)[\s*_]+)*(?:answer|label|antwort|réponse|respuesta|risposta"
    r"|resposta|ответ|答案|回答|答え)[*_]*(?:\s*[:>]|\s+(?:is|ist|est|es|è|é)\b:?|是|は)(?:[^\w{]|_)*"
)
_END = (
    r"""[*_`"')\]]*(?:</answer>)?"""
    r"(?:[^\S\n]*[.,;:!](?!\s*\d)|\s*\n|\s*$|\s+[-\u2013\u2014]+\s|\u2014)"
)
# Matches a word of the table that stands alone, as in "No." and "**Answer:** no - it is a cat", but
# not in "No idea", "No. 5", "Yes and no" and "'Yes' is wrong".
_AT_START = re.compile(
    rf"(?:[^\w{{]|_)*(?:{_MARKED})?(?:(?:(?P<yes>{_YES})|(?P<no>{_NO})){_END}"
    rf"|(?P<unsure>{_OPEN})(?:{_END}|\s+(?=(?:if|whether|about|from|because)\b)))",
    re.I,
)
_JOINTS = (
    r"\b(?:so|but|and|because|since|hence|therefore|thus|although|though|while|whereas|aber|sondern"
    r"|und|daher|deshalb|weil|et|mais|donc|car|pero|porque|ma|quindi|mas|portanto|но|поэтому)\b"
)
_SENTENCES = re.compile(rf"[.;!?\n]|{_JOINTS}", re.I)
_CLAUSES = re.compile(rf"[.,;:!?\n()\u2013\u2014]|\s-+\s|{_JOINTS}", re.I)
# What takes a word back behind it. A "no" before another word is mostly about the item.
_ALONE = rf"(?! (?!yes\b|{_JOINTS})[^\W\d_])"
_ANY = (
    r"^\W*(?:but|however|(?:al)?though|except|aber|mais|pero|mas|ma|но|但)|\bno idea|\bi was wrong"
    r"|(?:^|[.!?;,\n-])\s*(?:wait|actually|correction|or|hmm)\b|\b(?:take (?:it|that|this) back"
    rf"|scratch that|on (?:reflection|second thought)|my mistake)|{_OPEN}"
)
_CLAIM = r"\b(?:it|that|this|label|answer)"
_TAKEN_BACK = {
    "yes": re.compile(
        rf"(?i:{_ANY}|\b(?:no|non|não|nao|не|否)\b{_ALONE}|\b(?:nein|nee|nej|нет)\b|いいえ|不是"
        rf"|{_CLAIM}(?: is|'s| was) (?:wrong|false|incorrect|irrelevant)\b|\b(?:in|un)applicable\b"
        rf"|\b(?:does|do|is)(?: not|n't)\W*(?:$|[.,;!?\n]|{_JOINTS}|\b(?:yes|no)\b)"
        rf"|{_MARKED}(?:{_NO}))|\bN(?:[Oo]|on|ão)\b"
    ),
    "no": re.compile(
        rf"(?i:{_ANY}|\b(?:yes|oui|ja|sí|sì|да)\b|\b(?:si|sim)\b{_ALONE}|はい|是的|네"
        rf"|{_CLAIM} (?:does|is|do)\W*(?:$|[.,;!?\n])|{_MARKED}(?:{_YES}))"
    ),
    UNSURE: re.compile(
        r"(?i:(?:^|\b(?:but|so|lean\w*|probably|likely|answer|aber|mais|pero|ma|mas|но)\b.{0,60})\W{0,9}"
        rf"\b(?:{_YES}|{_NO})\b)"
    ),
}
_JUDGED = re.compile(
    r"(?i:\b(?:appl(?:y|ies|icable)|fits?|match(?:es)?|belongs?|relevant|labell?ed|(?:zu)?trifft|gilt"
    r"|passt|s'applique|applique|correspond|convient|aplica|corresponde|applica|corrisponde"
    r"|применим\w*|подходит|относится|pertinen\w*|toepassing|accurate)\b"
    r"|適用|当てはま|該当|适用|符合|相关|해당"
    rf"|{_CLAIM}(?: is|'s| was)(?: not)? (?:true|right|correct|so|the case)\b)"
)
_NEGATED = re.compile(
    r"(?i:\b(?:not|never|no|none|nothing|nor|neither|cannot|hardly|without|rather|instead|lacks?"
    r"|nicht|kein\w*|niet|geen|pas|jamais|non|não|nao|нет|не|(?:does|do|is)nt)\b|n't\b|ない|ません"
    r"|不)"
)
_NEGATED_BEHIND = re.compile(r"(?i:\b(?:nicht|niet|pas|jamais)\b|ない|ません|않)")
_UNMENTIONED = re.compile(
    r"(?i:(?:\b(?:not|never|nicht|niet|pas|non|não|не)\b|n't\b)[^.!?]{0,30}"
    r"\b(?:mention\w*|erwähnt|genannt|discuss\w*|vermeld|упомя\w*))|違"
)
_THOUGHT = re.compile(
    r"[<\[◁](/?)(?:\w+:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)[>\]▷]", re.I
)


class Result(NamedTuple):
    """What became of one request: a text, or a word why there is none."""

    text: Any  # of a reply that says itself what it is about, any JSON
    failed: str = ""
    message: Any = ""  # by the service, of a request without a text
    model: str | None = None
    used: tuple[int, int] = (0, 0)  # tokens of the request and of the reply
    tokens: Sequence[tuple[Any, Any]] = ()  # of the text, each with those that were likely there


def are_results(head: Head) -> bool:
    """Return whether a file has the lines of results that services write."""
    (root, keys), places = head.keys(), read_together()
    there = [
        key
        for key, beside in places.lines.items()
        if key in keys and (not beside or keys & {*beside.split()})
    ]
    return (root == "{" and bool(there)) or not {*places.own_keys.split()}.isdisjoint(there)


class ResultReader:
    """Reads lines of results, by all rows of the table of services together."""

    def __init__(self) -> None:
        self._places = read_together()
        fields = [field for service in SERVICES.values() for field in service.request.items()]
        self._ids = list(dict.fromkeys(key for key, value in fields if value == "{id}"))
        beside = {word for words in self._places.lines.values() for word in words.split()}
        self._tell = beside.difference(*(service.request for service in SERVICES.values()))
        # A text that ended for a reason that is not known may be half a word. Where two services
        # mean different things by a word, the text is not taken.
        reasons = (
            ("", self._places.whole),
            (CUT, self._places.cut),
            (REFUSED, self._places.refused),
        )
        self._ended = {word: what for what, words in reasons for word in words.casefold().split()}

    def read(self, value: Any, place: str) -> tuple[str, Result]:
        """Return the id in a line of results as a text, and what became of its request."""
        id_keys = [key for key in self._ids if key in value] if isinstance(value, dict) else []
        if not id_keys or self._tell.isdisjoint(value):
            raise fault(
                place,
                f"is no result with an id ({', '.join(self._ids)}); if the service left it out,"
                " copy the id of each request into the line with the same request",
            )
        return str(checked_as(Text, value[id_keys[0]], place, id_keys[0])), self._came_of(value)

    def _came_of(self, line: Any) -> Result:
        places, body = self._places, _first(line, self._places.bodies)
        states = [(_at(line, path), well.split()) for path, well in places.well.items()]
        failed = [word for word, well in states if word and str(word) not in well]
        failed += [error] if (error := _at(body, "error")) else []
        if failed or not isinstance(body, dict) or "status_code" in body:  # it is beside a body
            return Result(None, FAILED, *failed[:1])
        replies = {path: x for path in places.replies if (x := _at(body, path)) is not None}
        ways = [places.replies[path] for path in replies or places.replies]
        words = {str(_first(body, paths) or "").casefold() for paths in ways}
        parts = _listed(*replies.values()) if len(replies) == 1 else []
        whys = {self._ended.get(word, UNCLEAR) for word in words if word}
        if _first(body, places.refusals) or any(_at(part, "type") == "refusal" for part in parts):
            whys.add(REFUSED)
        model = _first(body, places.model)
        used = _number(body, places.n_in), _number(body, places.n_out)
        about = (model if isinstance(model, str) else None, used)
        texts = [text for part in parts if (text := _text_of(part)) is not None]
        why = next((why for why in (REFUSED, CUT, UNCLEAR) if why in whys), "")
        if why or not texts:
            return Result(None, why or UNCLEAR, " ".join(sorted(words)).strip(), *about)
        return Result("".join(texts), "", "", *about, list(_tokens(body, parts, places.tokens)))


def _at(value: Any, path: str) -> Any:
    """Return what lies at a path; None if nothing is there."""
    key, _, rest = path.partition(".")
    if key == "*":
        messages = [each for each in _listed(value) if _at(each, "type") == "message"]
        return [*itertools.chain(*(_listed(_at(x, rest)) for x in messages))] if messages else None
    if key == "0":
        value = value[0] if isinstance(value, list) and len(value) == 1 else None
    else:
        value = value.get(key) if isinstance(value, dict) else None
    return _at(value, rest) if rest else value


def _first(body: Any, paths: str) -> Any:
    return next((value for path in paths.split() if (value := _at(body, path))), None)


def _text_of(part: Any) -> str | None:
    """Return the text of a part of a reply; None if it is none, or a thought."""
    is_text = _at(part, "type") in (None, "text", "output_text")
    text = part if isinstance(part, str) else _at(part, "text")
    return text if isinstance(text, str) and is_text and not _at(part, "thought") else None


def _listed(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content] if isinstance(content, str) else []


def _number(body: Any, paths: str) -> int:
    numbers = (_at(body, path) for path in paths.split())
    return next((n for n in numbers if type(n) is int and 0 < n < 2**53), 0)


def _tokens(body: Any, parts: list[Any], places: Mapping[str, str]) -> Iterator[tuple[Any, Any]]:
    """Yield each token of a reply with those that were likely there, as far as a body has them."""
    for path, (beside, key) in ((path, words.split()) for path, words in places.items()):
        steps, likely = _listed(_at(body, path)), _listed(_at(body, beside))
        for step, each in zip(steps, likely, strict=False):
            yield _at(step, "token"), _at(each, key)
    for step in (step for part in parts for step in _listed(_at(part, "logprobs"))):
        yield _at(step, "token"), _at(step, "top_logprobs")


def confidence(word: Any, text: Any, tokens: Sequence[tuple[Any, Any]]) -> float | None:
    """Return P(word) / (P(yes) + P(no)) at the word of a reply's text; None if it is not told.

    If the other word is not among the likely ones, it is less likely than all of them. The least of
    them then stands for it, if that changes the fourth digit at most.
    """
    likely = _likely(text, tokens) if tokens and word in ("yes", "no") else None
    if likely is None:
        return None
    shares, least = {"yes": 0.0, "no": 0.0}, 1.0
    for each in _listed(likely):
        logs = [_at(each, name) for name in ("logprob", "logProbability")]
        log = next((log for log in logs if isinstance(log, int | float)), 1)
        if not log <= _SMALL:
            return None
        share = math.exp(max(min(log, 0.0), -1e4))
        least = min(least, share)
        if (name := _word_of(_at(each, "token"))) in shares:
            shares[name] += share
    mine, other = shares.pop(word), *shares.values()
    if not mine or (not other and least > _SMALL * mine):
        return None
    return mine / (mine + (other or least))


def _likely(text: Any, tokens: Sequence[tuple[Any, Any]]) -> Any:
    """Return what was likely at the token with the word of a text; None if it is not found.

    Tokens may also be of the thinking, which need not stand in the text.
    """
    words = [token if isinstance(token, str) else "?" for token, _ in tokens]
    whole, answer = "".join(words), spoken(str(text)) or ""
    behind = spoken(whole) or ""
    start = _AT_START.match(behind.translate(_SIGNS))
    if start is None or answer.strip()[:40] != behind.strip()[:40]:
        return None
    place = len(whole) - len(behind) + start.start(str(start.lastgroup))
    ends = itertools.accumulate(map(len, words))
    at = next(at for at, end in enumerate(ends) if end > place)
    return tokens[at][1] if _word_of(words[at]) == start.lastgroup else None


def spoken(text: str) -> str | None:
    """Return what stands behind the thinking in a reply; None if the thinking has no end.

    A prompt may hold the first tag, so that the text begins with thinking and has only the last.
    """
    tags, at = [*_THOUGHT.finditer(text)], 0
    depth = int(bool(tags) and tags[0][1] == "/")
    for tag in tags:
        if not depth and text[at : tag.start()].strip():  # something was said before it
            break
        depth, at = max(depth + (-1 if tag[1] else 1), 0), tag.end()
    left = [tag[1] for tag in tags if tag.start() >= at]
    return None if depth or left.count("") != left.count("/") else text[at:]


def _word_of(value: Any) -> str | None:
    """Return "yes", "no" or "unsure" for a word of the table, or for true and false of JSON."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = _bare_text(value) if isinstance(value, str) else ""
    return next((word for word, forms in _FORMS.items() if forms.fullmatch(text)), None)


def answers_in(questions: Mapping[str, Question], reply: Any) -> Mapping[str, Any]:
    """Return what a reply says of each question: a word, labels, or a word for each label.

    The keys are the names of items in the request, "" for the only one. A value is None if it is
    not clear.
    """
    if isinstance(reply, str):
        reply = spoken(reply)
    question = next(iter(questions.values()))
    alone = "" in questions
    if reply is None:
        return dict.fromkeys(questions)
    whole = None
    if question.kind.judges:
        keys = {*question.offered} if alone else {*questions}
        text = reply if isinstance(reply, str) else json.dumps(reply)
        objects = [each for each in _objects_in(text) if each is None or each.keys() & keys]
        whole = objects[0] if len(objects) == 1 else None
        if not alone:
            whole = whole if whole is not None and whole.keys() <= keys else {}
            return {name: _words_in(whole.get(name), question) for name in questions}
    words = _words_in(whole, question)
    return {"": _answer_of(question, reply) if words is None else words}


def _words_in(value: Any, question: Question) -> dict[str, str] | None:
    """Return the word for each label in an object; None if one is missing, or strange."""
    if not isinstance(value, dict) or value.keys() != {*question.offered}:
        return None
    words = {label: word for label, judgment in value.items() if (word := _word_of(judgment))}
    return words if len(words) == len(value) else None


def _answer_of(question: Question, reply: Any) -> str | list[str] | None:
    word = _judgment(reply, question.label or "")
    if question.question == "asked":
        return word
    chosen = _choice(reply, question)
    return UNSURE if chosen is None and word == UNSURE else chosen


def _judgment(reply: Any, label: str) -> str | None:
    """Return "yes", "no" or "unsure"; None if the reply does not clearly say one of them."""
    text = reply.translate(_SIGNS) if isinstance(reply, str) else ""
    value, start = _field(reply, "answer"), _AT_START.match(text)
    words = {start.lastgroup} if start else set()
    rest = text[start.end() :] if start else ""
    if value is not None:
        words.add(_word_of(value))
        rest = text.rpartition("}")[2]
    word = words.pop() if len(words) == 1 else None
    return word if word and _stands(word, rest, label) else None


def _stands(word: str, rest: str, label: str) -> bool:
    """Return whether nothing behind a word says another thing."""
    rest = re.sub(r"(?i:\bno (?:doubt|question)\b)", " ", rest)
    if len(rest) > _MOST_BEHIND or _TAKEN_BACK[word].search(rest):
        return False
    about = re.escape(label) if len(label) > 2 else "$^"
    if word == UNSURE:
        return True
    if word == "yes":
        about = rf"(?i:\b(?:no|not|non|without|kein\w*) (?:\w+ ){{0,2}}{about}\b)"
        denied = any(any(_denials(each)) for each in _SENTENCES.split(rest))
        return not (denied or re.search(about, rest) or _UNMENTIONED.search(rest))
    clauses, about = _CLAUSES.split(rest), rf"(?i:\b{about}\b)"
    claimed = any(n != 1 for each in clauses for n in _denials(each))
    return not claimed and all(_NEGATED.search(x) for x in clauses if re.search(about, x))


def _denials(text: str) -> list[int]:
    """Return how often each judgement in a text is negated."""
    before = [(text[: each.start()], text[each.end() :]) for each in _JUDGED.finditer(text)]
    return [len(_NEGATED.findall(a)) + len(_NEGATED_BEHIND.findall(b)) for a, b in before]


def _choice(reply: Any, question: Question) -> list[str] | None:
    """Return the labels in a field of a reply, [] if it says that none is; None if not clear.

    An empty list is clear only where labels were to be ticked.
    """
    nothing, offered = WORDINGS[question.question].fixed, question.offered
    value = _field(reply, question.question)
    if value is None:
        value = reply
    texts = value if isinstance(value, list) else [value]
    if not all(isinstance(each, str) for each in texts):
        return None
    if not texts and (not question.kind.judges or value is reply):
        return None
    if nothing and len(texts) == 1 and _bare_text(texts[0]) == nothing:
        return []
    labels = [_offered_label(each, offered) for each in texts]
    chosen = [label for label in labels if label is not None]
    most = len(offered) if question.kind.judges else question.asked_for
    return chosen if len(chosen) == len(set(chosen)) == len(labels) <= most else None


def _offered_label(text: str, offered: Sequence[str]) -> str | None:
    """Return the offered label that equals a text, exactly or without case and punctuation."""
    if text in offered:
        return text
    alike = [label for label in offered if _bare_text(label) == _bare_text(text)]
    return alike[0] if len(alike) == 1 else None


def _bare_text(text: str) -> str:
    return text.translate(_SIGNS).strip(_MARKS).casefold()


def _field(reply: Any, name: str) -> Any:
    """Return the value of a field in the JSON objects of a reply; None if they differ."""
    objects = [reply] if isinstance(reply, dict) else []
    if isinstance(reply, str):
        parsed = list(_objects_in(reply))
        objects = [each for each in parsed if each is not None]
        if len(objects) < len(parsed):
            return None
    values = [
        value
        for each in objects
        for key, value in each.items()
        if isinstance(key, str) and key.strip().casefold() == name
    ]
    return values[0] if values and all(value == values[0] for value in values) else None


def _objects_in(text: str) -> Iterator[dict[str, Any] | None]:
    """Yield the JSON objects in a text; None for one that is broken or has a key twice."""
    at, tried = text.find("{"), 0
    while at != -1 and tried < _MOST_BRACES:
        tried += 1
        try:
            value, end = _DECODER.raw_decode(text, at)
            yield value
        except (ValueError, RecursionError):
            end = at + 1
            if text[end : end + 100].lstrip()[:1] == '"':  # other braces are no JSON
                yield None
        at = text.find("{", end)
    if at != -1:
        yield None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any] | None:
    record = dict(pairs)
    return record if len(record) == len(pairs) else None


_DECODER = json.JSONDecoder(object_pairs_hook=_once)
