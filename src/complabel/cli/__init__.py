"""The command line: parse, call, show. A command imports heavy modules only when it runs."""

from complabel.cli._app import main
from complabel.cli._app import new_group as new_group
from complabel.cli._console import Log as Log
from complabel.cli._console import command as command
from complabel.cli._console import complain as complain
from complabel.cli._console import duration as duration
from complabel.cli._console import errors as errors
from complabel.cli._console import explain as explain
from complabel.cli._console import new_table as new_table
from complabel.cli._console import output as output
from complabel.cli._console import remark as remark
from complabel.cli._console import save as save
from complabel.cli._console import save_json as save_json
from complabel.cli._console import say as say
from complabel.cli._console import show as show
from complabel.cli._inputs import advise_on as advise_on
from complabel.cli._inputs import read_own_answers as read_own_answers
from complabel.cli._inputs import read_own_features as read_own_features
from complabel.cli._options import CONTRADICTIONS as CONTRADICTIONS
from complabel.cli._options import DATA_DIR as DATA_DIR
from complabel.cli._options import ITEMS as ITEMS
from complabel.cli._options import JSON_FILE as JSON_FILE
from complabel.cli._options import LABEL_NAMES as LABEL_NAMES
from complabel.cli._options import MATCH_FREQUENCIES as MATCH_FREQUENCIES
from complabel.cli._options import METHOD_HELP as METHOD_HELP
from complabel.cli._options import READ_AS as READ_AS
from complabel.cli._options import argument as argument
from complabel.cli._options import flag as flag
from complabel.cli._options import one_of as one_of
from complabel.cli._options import option as option
from complabel.cli._options import share as share
from complabel.cli._options import with_examples as with_examples
from complabel.cli._outputs import Output as Output
from complabel.cli._outputs import has_written as has_written
from complabel.cli._outputs import is_own_page as is_own_page
from complabel.cli._outputs import may_replace as may_replace
from complabel.cli._outputs import refuse_no_folder as refuse_no_folder
from complabel.cli._outputs import refuse_odd as refuse_odd
from complabel.cli._outputs import try_to_write as try_to_write
from complabel.cli._outputs import unused as unused

__all__ = ["main"]
