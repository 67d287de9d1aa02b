"""The services that answer batches of a language model, in one table that all rooms look into.

A row of ``SERVICES`` says how a request is wrapped, where a line of results has the reply, and what
a failed one looks like. A new service is a new row, and no code. What stands in braces, such as
``"{model}"``, is filled in. Paths have keys into JSON: ``0`` is the only one of a list, ``*`` goes
to each message of it. Of several paths with a blank between them, the first counts that leads to
something.

Many servers answer as another service does, so a file does not say by which row it is to be read.
A line is read by all rows together (``read_together``): what any of them calls a failure is one.

This file needs no other library, so that the command line can list the services at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Results(NamedTuple):
    """Where lines of results have what. Each field is words, or words by key."""

    lines: Mapping[str, str] = {}  # keys of a line, and those of which one stands beside the key
    own_keys: str = ""  # of these keys, those by which a JSON list of such lines is recognized
    bodies: str = ""  # paths of what the model gave back
    well: Mapping[str, str] = {}  # by path, what is said if all went well; all else is a failure
    replies: Mapping[str, str] = {}  # paths in a body of a text or its parts; where the reason is
    whole: str = ""  # reasons why a reply ended: it is whole, it was cut off, the model refused
    cut: str = ""
    refused: str = ""
    refusals: str = ""  # paths in a body that lead to something only if the model refused
    model: str = ""  # paths of the model's name, and of the numbers of tokens
    n_in: str = ""
    n_out: str = ""
    tokens: Mapping[str, str] = {}  # by path of tokens: a path of likely ones, and their key there


class Service(NamedTuple):
    """What a request to a service looks like, what a file of them may be, and its results."""

    title: str
    request: Mapping[str, Any]  # with {id} and {body}
    body: Mapping[
        str, Any
    ]  # with {model} and {content}, and {most_tokens} if a request must say it
    picture: Mapping[str, Any]  # a part of the content, with {type} and {data} of a file, or {url}
    results: Results
    address: Mapping[str, Any] = {}  # the same with the {url} of a picture; none: it is not sent
    text: Mapping[str, Any] = {"type": "text", "text": "{text}"}
    # More of the body if labels are judged, with {schema} or {strict_schema}, and if the
    # probabilities of tokens are asked for.
    ticked: Mapping[str, Any] = {}
    probable: Mapping[str, Any] = {}
    most: int = 50_000  # requests of a file; this and the size are the least that servers say
    most_megabytes: int = 100
    also: str = ""  # who else reads such requests
    ending: str = ".jsonl"
    around: tuple[str, str, str] = ("", "\n", "\n")  # before, between and behind requests


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """Return a template with values in place of their names."""
    if isinstance(template, Mapping):
        return {key: filled(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, values) for value in template]
    return values.get(template, template)


def read_together() -> Results:
    """Return where the lines of any service have what."""
    columns = zip(*(service.results for service in SERVICES.values()), strict=True)
    return Results(*map(_joined, columns))


def _joined(column: tuple[Any, ...]) -> Any:
    if isinstance(column[0], str):
        return " ".join(dict.fromkeys(" ".join(column).split()))
    keys = dict.fromkeys(key for each in column for key in each)
    return {key: _joined(tuple(each.get(key, "") for each in column)) for key in keys}


_URL = {"type": "image_url", "image_url": {"url": "{url}"}}
_SOURCE = {"type": "base64", "media_type": "{type}", "data": "{data}"}
_MESSAGES = [{"role": "user", "content": "{content}"}]
_OF_LABELS = {"name": "labels", "strict": True, "schema": "{strict_schema}"}
_CHAT = Service(
    title="Mistral",
    also="Together",
    request={"custom_id": "{id}", "body": "{body}"},
    body={"model": "{model}", "messages": _MESSAGES},
    ticked={"response_format": {"type": "json_schema", "json_schema": _OF_LABELS}},
    picture=_URL,
    address=_URL,
    results=Results(
        lines={"custom_id": "response error"},
        own_keys="custom_id",
        bodies="response.body response",
        well={"error": "", "response.status_code": "200"},
        replies={
            "choices.0.message.content": "choices.0.finish_reason choices.0.stop_reason",
            "output.*.content": "incomplete_details.reason status",  # /v1/responses
        },
        whole="stop completed",
        cut="length max_output_tokens incomplete abort",  # vLLM aborts
        refused="content_filter",
        refusals="choices.0.message.refusal",
        model="model",
        n_in="usage.prompt_tokens usage.input_tokens",
        n_out="usage.completion_tokens usage.output_tokens",
        tokens={"choices.0.logprobs.content": "choices.0.logprobs.content top_logprobs"},
    ),
)
_CLAUDE = Service(
    title="Anthropic",
    request={"custom_id": "{id}", "params": "{body}"},
    body={"model": "{model}", "max_tokens": "{most_tokens}", "messages": _MESSAGES},
    picture={"type": "image", "source": _SOURCE},
    address={"type": "image", "source": {"type": "url", "url": "{url}"}},
    most=100_000,
    most_megabytes=256,
    ending=".json",
    around=('{"requests": [\n', ",\n", "\n]}\n"),
    results=Results(
        lines={"custom_id": "result"},
        own_keys="custom_id",
        bodies="result.message",
        well={"result.type": "succeeded"},
        replies={"content": "stop_reason"},
        whole="end_turn stop_sequence",
        cut="max_tokens model_context_window_exceeded",
        refused="refusal",
        model="model",
        n_in="usage.input_tokens",
        n_out="usage.output_tokens",
    ),
)
SERVICES = {
    "openai": _CHAT._replace(
        title="OpenAI",
        also="Azure, vLLM and LiteLLM",
        request={"custom_id": "{id}", "method": "POST", "url": "/v1/chat/completions"}
        | {"body": "{body}"},
        probable={"logprobs": True, "top_logprobs": 20},
        most_megabytes=200,
    ),
    "mistral": _CHAT,
    "anthropic": _CLAUDE,
    "gemini": Service(
        title="Gemini",
        request={"key": "{id}", "request": "{body}"},
        body={"contents": [{"role": "user", "parts": "{content}"}]},
        ticked={
            "generation_config": {"response_mime_type": "application/json"}
            | {"response_schema": "{schema}"}
        },
        probable={"generation_config": {"response_logprobs": True, "logprobs": 20}},
        text={"text": "{text}"},
        picture={"inline_data": {"mime_type": "{type}", "data": "{data}"}},
        most=200_000,
        most_megabytes=2_000,
        results=Results(
            # Vertex may leave the key out. Other files have such keys, too, and may be lists.
            lines={"key": "response status error", "request": "response status"},
            bodies="response",
            well={"error": "", "status": "completed succeeded success OK"},
            replies={
                "candidates.0.content.parts": "candidates.0.finishReason candidates.0.finish_reason"
            },
            whole="stop finish_reason_unspecified",
            cut="max_tokens",
            refused="safety recitation blocklist prohibited_content spii image_safety",
            refusals="promptFeedback.blockReason",
            model="modelVersion",
            n_in="usageMetadata.promptTokenCount",
            n_out="usageMetadata.candidatesTokenCount",
            tokens={
                "candidates.0.logprobsResult.chosenCandidates": (
                    "candidates.0.logprobsResult.topCandidates candidates"
                )
            },
        ),
    ),
    "bedrock": _CLAUDE._replace(  # requests to Anthropic's models; replies of all
        title="Bedrock",
        request={"recordId": "{id}", "modelInput": "{body}"},
        body={"anthropic_version": "bedrock-2023-05-31", "max_tokens": "{most_tokens}"}
        | {"messages": _MESSAGES},
        address={},
        most=50_000,
        most_megabytes=200,
        ending=".jsonl",
        around=("", "\n", "\n"),
        results=Results(
            # A model's input may stand first, and have pictures that fill the head.
            lines={"recordId": "modelInput modelOutput error", "modelInput": ""},
            own_keys="recordId",
            bodies="modelOutput",
            well={"error": ""},
            replies={
                "output.message.content": "stopReason",  # Nova, Converse
                "choices.0.text": "choices.0.finish_reason choices.0.stop_reason",  # DeepSeek
                "generation": "stop_reason",  # Llama
                "results.0.outputText": "results.0.completionReason",  # Titan
                "outputs.0.text": "outputs.0.stop_reason",  # Mistral
                "text": "finish_reason",  # Cohere, in three versions
                "generations.0.text": "generations.0.finish_reason",
                "message.content": "finish_reason",
            },
            whole="complete eos eos_token finish stop_criteria_met",
            cut="error_limit",
            refused="content_filtered guardrail_intervened error_toxic",
            n_in="usage.inputTokens usage.tokens.input_tokens prompt_token_count"
            " inputTextTokenCount",
            n_out="usage.outputTokens usage.tokens.output_tokens generation_token_count"
            " results.0.tokenCount",
        ),
    ),
}
"""How each service is asked and answers, by the name of ``--for``."""
