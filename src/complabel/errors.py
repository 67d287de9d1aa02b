"""What can be wrong with what complabel is given, one exception type per kind."""


class ComplabelError(Exception):
    """Base of every error complabel raises on purpose."""


class InputError(ComplabelError, ValueError):
    """Features or parameters that cannot be learned from: shape, range, type."""


class AnnotationError(ComplabelError, ValueError):
    """Complementary or relevant labels that contradict themselves or each other."""


class TransitionError(ComplabelError, ValueError):
    """A transition matrix that is not one, or that cannot be estimated."""


class DatasetFormatError(ComplabelError, ValueError):
    """A dataset file that does not parse; the message names file and line."""


class DatasetNotFoundError(ComplabelError, LookupError):
    """A dataset that is not at hand; the message says what to put where."""


class PlanError(ComplabelError, ValueError):
    """A study plan that cannot be run; the message points at the key."""


class StoreError(ComplabelError, OSError):
    """A result store that cannot be read or written."""


class OutputError(ComplabelError, OSError):
    """A file that cannot be written; what it held before is unchanged."""


class DownloadError(ComplabelError, OSError):
    """A download that failed or whose checksum differs from the catalog's."""


class ModelFileError(ComplabelError, ValueError):
    """A file that holds no model that can be loaded, or a model that no file can hold."""
