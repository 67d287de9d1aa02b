"""Read what a language model says: yes, no or unsure, labels, or a word for each label.

A reply is free text, or JSON such as ``{"named": ["sea"]}``. What the model thought before it
answers never counts. A word of a table must stand at the start of a text, before an end, a dash or
punctuation, and nothing behind it may say another thing. Nothing is guessed: what is not clear is
no answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from complabel.importers._questions import NONE_APPLY, UNSURE, WORDINGS, Question

# Full-width signs and curly quotes as plain ones, one for one, so that places stay.
_SIGNS = str.maketrans("\u2018\u2019\u3002\uff0e\uff01\uff0c\u3001\uff1a\uff1b\uff1f", "''..!,,:;?")
_ENDS = " \t\r\n.,;:!?*_`\"'"
_MOST_BRACES = 100  # braces tried as the start of JSON, so that a hostile text cannot take long

_YES = "yes|ja|oui|sí|si|sì|sim|да|はい|是的|是|네|예"
_NO = "no|nein|nee|nej|non|não|nao|нет|いいえ|不是|否|아니요"
_UNSURE = (
    r"(?:i am |i'm |it is |it's |ich bin (?:mir )?)?(?:unsure|uncertain|unclear|undecided|unsicher"
    r"|unklar|not (?:sure|certain|clear)|nicht sicher)|(?:i )?(?:cannot|can not|can't) (?:tell|say"
    r"|determine|decide|judge|know)|(?:i )?(?:don't|do not) know|hard to (?:tell|say)"
    r"|ich weiß (?:es )?nicht|je ne sais pas|no (?:lo )?sé|non (?:lo )?so|não sei|не знаю"
    r"|わかりません|分かりません|不确定|不知道"
)
_WORDS = {"yes": _YES, "no": _NO, UNSURE: _UNSURE}
_FORMS = {word: re.compile(f"(?:{forms})", re.IGNORECASE) for word, forms in _WORDS.items()}
_MARKED = (
    r"(?:(?:the|my|final|die|meine|la|ma|mi|a)[\s*_]+)*(?:answer|antwort|réponse|respuesta|risposta"
    r"|resposta|ответ|答案|回答|答え)[*_]*(?:\s*[:>]|\s+(?:is|ist|est|es|è|é)\b:?|是|は)(?:[^\w{]|_)*"
)
_CLOSED = r"""[*_`"')\]]*(?:</answer>)?"""
_END = rf"{_CLOSED}(?:[^\S\n]*[.,;:!](?!\s*\d)|\s*\n|\s*$|\s+[-\u2013\u2014]+\s|\u2014)"
# Matches a word of the table that stands alone, as in "No." and "**Answer:** no - it is a cat", but
# not in "No idea", "No. 5", "Yes and no" and "'Yes' is wrong".
_AT_START = re.compile(
    rf"(?:[^\w{{]|_)*(?:{_MARKED})?(?:(?:(?P<yes>{_YES})|(?P<no>{_NO})){_END}"
    rf"|(?P<unsure>{_UNSURE})(?:{_END}|\s+(?=(?:if|whether|about|from|because)\b)))",
    re.IGNORECASE,
)
# What takes a word back behind it. A "no" before another word is mostly about the item.
_NO_MORE = r"\b(?:no|non|não|nao|не|否)\b(?! [^\W\d_])"
_TAKEN_BACK = {
    "yes": re.compile(rf"(?i:{_NO_MORE}|\b(?:nein|nee|nej|нет)\b|いいえ|不是)|\bN(?:[Oo]|on|ão)\b"),
    "no": re.compile(r"(?i:\b(?:yes|oui|ja|sí|sì|да)\b|\b(?:si|sim)\b(?! [^\W\d_])|はい|是的|네)"),
    UNSURE: re.compile(
        r"(?i:(?:^|\b(?:but|so|lean\w*|probably|likely|answer|aber|mais|pero|ma|mas|но)\b.*)\W*"
        rf"\b(?:{_YES}|{_NO})\b)"
    ),
}
_JOINTS = (
    r"so|but|and|because|since|hence|therefore|thus|although|though|while|whereas|aber|sondern|und"
    r"|daher|deshalb|weil|et|mais|donc|car|pero|porque|ma|quindi|mas|portanto|но|поэтому"
)
_TAKES_BACK_ANY = re.compile(
    rf"(?i:^\W*(?:but|however|(?:al)?though|except|aber|mais|pero|mas|ma|но|但)|{_UNSURE}|\bno idea"
    r"|(?:^|[.!?;,\n-])\s*(?:wait|actually|correction|or|hmm)\b|\b(?:take (?:it|that|this) back"
    r"|scratch that|on (?:reflection|second thought)|i was wrong|my mistake))"
)
_JUDGED = re.compile(
    r"(?i:\b(?:appl(?:y|ies|icable)|fits?|match(?:es)?|belongs?|relevant|labell?ed|(?:zu)?trifft|gilt"
    r"|passt|s'applique|applique|correspond|convient|aplica|corresponde|applica|corrisponde"
    r"|применим\w*|подходит|относится|(?:it|that|this|label|answer)(?: is|'s| was)(?: not)?"
    r" (?:true|right|correct|so|the case))\b|適用|当てはま|該当|适用|符合)"
)
_NEGATED = re.compile(
    r"(?i:\b(?:not|never|no|none|nothing|nor|neither|cannot|hardly|without|rather|instead|lacks?|nicht|kein\w*|pas|jamais|non|não"
    r"|nao|нет|не|(?:does|do|is)nt)\b|n't\b|ない|ません|不)"
)
_WRONG = re.compile(
    r"(?i:\b(?:it|that|this|label|answer)(?: is|'s| was) (?:wrong|false|incorrect|irrelevant)\b"
    rf"|\b(?:in|un)applicable\b|\b(?:does|do|is)(?: not|n't)\W*(?:$|[.,;!?\n]|\b(?:{_JOINTS})\b))"
)
_TRUE = re.compile(r"(?i:\b(?:it|that|this|label) (?:does|is|do)\W*(?:$|[.,;!?\n]))")
_SENTENCES = re.compile(rf"(?i:[.;!?\n]|\b(?:{_JOINTS})\b)")
_CLAUSES = re.compile(rf"(?i:[.,;:!?\n()\u2013\u2014]|\s-+\s|\b(?:{_JOINTS})\b)")
_THOUGHT = re.compile(
    r"[<\[◁](/?)(?:\w+:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)[>\]▷]",
    re.IGNORECASE,
)


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


def word_of(value: Any) -> str | None:
    """Return "yes", "no" or "unsure" for a word of the table, or for true and false of JSON."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = _plain(value) if isinstance(value, str) else ""
    return next((word for word, forms in _FORMS.items() if forms.fullmatch(text)), None)


def place_of_word(text: str) -> int | None:
    """Return where the word stands with which a text answers; None if it begins with no word."""
    start = _AT_START.match(text.translate(_SIGNS))
    return start and start.start(str(start.lastgroup))


def said_in(questions: Mapping[str, Question], reply: Any) -> Mapping[str, Any]:
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
        found = [each for each in _objects_in(text) if each is None or each.keys() & keys]
        whole = found[0] if len(found) == 1 else None
        if not alone:
            whole = whole if whole is not None and whole.keys() <= keys else {}
            return {name: _words_in(whole.get(name), question) for name in questions}
    words = _words_in(whole, question)
    return {"": _said_of(question, reply) if words is None else words}


def _words_in(found: Any, question: Question) -> dict[str, str] | None:
    """Return the word for each label in an object; None if one is missing, or strange."""
    if not isinstance(found, dict) or found.keys() != {*question.offered}:
        return None
    words = {label: word for label, said in found.items() if (word := word_of(said))}
    return words if len(words) == len(found) else None


def _said_of(question: Question, reply: Any) -> str | list[str] | None:
    word = _judgment(reply, question.label or "")
    if question.question == "asked":
        return word
    chosen = _choice(reply, question)
    return UNSURE if chosen is None and word == UNSURE else chosen


def _judgment(reply: Any, label: str) -> str | None:
    """Return "yes", "no" or "unsure"; None if the reply does not clearly say one of them."""
    text = reply.translate(_SIGNS) if isinstance(reply, str) else ""
    found, start = _field(reply, "answer"), _AT_START.match(text)
    words = {start.lastgroup} if start else set()
    rest = text[start.end() :] if start else ""
    if found is not None:
        words.add(word_of(found))
        rest = text.rpartition("}")[2]
    word = words.pop() if len(words) == 1 else None
    return word if word and _stands(word, rest, label) else None


def _stands(word: str, rest: str, label: str) -> bool:
    """Return whether nothing behind a word says another thing."""
    rest = re.sub(r"(?i:\bno (?:doubt|question)\b)", " ", rest)
    if _TAKEN_BACK[word].search(rest):
        return False
    if word == UNSURE:
        return True
    if _TAKES_BACK_ANY.search(rest):
        return False
    about = re.escape(label) if len(label) > 2 else "$^"
    if word == "no":
        clauses = [(x, len(_NEGATED.findall(x))) for x in _CLAUSES.split(rest)]
        claimed = any(_JUDGED.search(x) and n != 1 for x, n in clauses)
        named = any(re.search(rf"(?i:\b{about}\b)", x) and not n for x, n in clauses)
        return not (claimed or named or _TRUE.search(rest))
    denied = any(_JUDGED.search(x) and _NEGATED.search(x) for x in _SENTENCES.split(rest))
    about = rf"(?i:\b(?:no|not|non|without|kein\w*) (?:\w+ ){{0,2}}{about}\b)"
    return not (denied or _WRONG.search(rest) or re.search(about, rest))


def _choice(reply: Any, question: Question) -> list[str] | None:
    """Return the labels in a field of a reply, [] if it says that none is; None if not clear.

    An empty list is clear only where it says that nothing was ticked.
    """
    nothing, offered = WORDINGS[question.question].fixed, question.offered
    found = _field(reply, question.question)
    if found is None:
        found = reply
    given = found if isinstance(found, list) else [found]
    if not all(isinstance(each, str) for each in given):
        return None
    if not given and (nothing != NONE_APPLY or found is reply):
        return None
    if nothing and len(given) == 1 and _plain(given[0]) == nothing:
        return []
    labels = [_offered_label(each, offered) for each in given]
    chosen = [label for label in labels if label is not None]
    most = len(offered) if question.kind.judges else question.asked_for
    return chosen if len(chosen) == len(set(chosen)) == len(labels) <= most else None


def _offered_label(text: str, offered: Sequence[str]) -> str | None:
    """Return the offered label that equals a text, exactly or without case and punctuation."""
    if text in offered:
        return text
    alike = [label for label in offered if _plain(label) == _plain(text)]
    return alike[0] if len(alike) == 1 else None


def _plain(text: str) -> str:
    return text.translate(_SIGNS).strip(_ENDS).casefold()


def _field(reply: Any, name: str) -> Any:
    """Return the value of a field in the JSON objects of a reply; None if they differ."""
    objects = [reply] if isinstance(reply, dict) else []
    if isinstance(reply, str):
        found = list(_objects_in(reply))
        objects = [each for each in found if each is not None]
        if len(objects) < len(found):
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
            found, end = _DECODER.raw_decode(text, at)
            yield found
        except (ValueError, RecursionError):
            end = at + 1
            if text[end : end + 100].lstrip()[:1] == '"':  # other braces are no JSON
                yield None
        at = text.find("{", end)
    if at != -1:
        yield None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any] | None:
    made = dict(pairs)
    return made if len(made) == len(pairs) else None


_DECODER = json.JSONDecoder(object_pairs_hook=_once)
