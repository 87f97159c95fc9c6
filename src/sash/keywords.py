"""Check the arguments of public calls: a keyword that does not exist is reported with the one to write."""

import difflib
import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar, cast

from sash.errors import SashError, UnknownKeyword
from sash.synonyms import BY_NAME, ELSEWHERE, ELSEWHERE_OF, EXAMPLES, KEYWORDS

__all__ = ["checked", "is_keyword", "keywords_of", "unknown_keyword"]

Public = TypeVar("Public", bound=Callable[..., Any])

# Packages whose public names have a prefix of their own.
_PREFIXES = {"sash.swag.": "sash.swag.", "sash.algebra.laws": "sash.laws.", "sash.spark.": "sash.spark."}


def checked(public: Public) -> Public:
    """Decorate a public function or class: a call that does not fit its parameters is refused with a fix.

    The check runs after Python has refused the arguments, so other calls cost only one more function call.

    >>> import sash
    >>> sash.tumbling(siez="1 hour")
    Traceback (most recent call last):
    sash.errors.UnknownKeyword: sash.tumbling() has no keyword 'siez'. Did you mean 'size'?
    """
    is_class = isinstance(public, type)
    function: Any = getattr(public, "__init__") if is_class else public  # noqa: B009  # mypy sees no class here
    name = _public_name(public)

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except TypeError:
            wrong = _misfit(name, inspect.signature(function), given, named, skipped=is_class)
            if wrong is None:
                raise
        raise wrong

    if not is_class:
        return cast("Public", call)
    setattr(public, "__init__", call)  # noqa: B010
    return public


def unknown_keyword(call: str, name: str, known: Iterable[str]) -> UnknownKeyword:
    """Return the error for a keyword that a call does not have.

    >>> print(unknown_keyword("sash.aggregate", "key", ["on", "by"]))
    sash.aggregate() has no keyword 'key'. Write by='name of a column'.
    """
    keywords = list(known)
    same = KEYWORDS.get(name, ())
    elsewhere = ELSEWHERE_OF.get(call, {})
    own = [each for each in same if each in keywords and each not in elsewhere]
    if own:
        *most, last = [f"{each}=…" if "swag" in call else EXAMPLES.get(each, f"{each}=…") for each in own]
        return UnknownKeyword.instead(call, name, f"{', '.join(most)} or {last}" if most else last)
    near = difflib.get_close_matches(name.lower(), keywords, n=1)
    if near and not same:
        return UnknownKeyword.near(call, name, near[0])
    for each in (name, *same):
        place = elsewhere.get(each) or ELSEWHERE.get(each)
        if place is not None:
            return UnknownKeyword.instead(call, name, place)
    if call in ("sash.aggregate", "sash.Stream", "sash.explain"):
        return UnknownKeyword.of_query(call, name, keywords)
    return UnknownKeyword.no_such(call, name, keywords) if keywords else UnknownKeyword.without_keywords(call, name)


def is_keyword(name: str, known: Iterable[str]) -> bool:
    """Return whether a name is a keyword of another call or library, or is similar to one of the known keywords."""
    if len(name) < 3:  # the name of a result, such as n, is similar to `on`
        return name in ("on", "by")
    return name in KEYWORDS or bool(difflib.get_close_matches(name.lower(), list(known), n=1))


def keywords_of(function: Callable[..., Any]) -> list[str]:
    """Return the names that arguments of a function may be passed by."""
    parameters = inspect.signature(function).parameters.values()
    return [each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]


def _public_name(public: Any) -> str:
    prefix = next((each for start, each in _PREFIXES.items() if public.__module__.startswith(start)), "sash.")
    return f"{prefix}{public.__name__}"


def _misfit(
    call: str, signature: inspect.Signature, given: tuple[Any, ...], named: dict[str, Any], skipped: bool
) -> SashError | None:
    """Return what is wrong with the arguments of a call; None if they fit, and the error came from elsewhere."""
    try:
        signature.bind(*given, **named)
    except TypeError:
        pass
    else:
        return None
    parameters = list(signature.parameters.values())[skipped:]
    given = given[skipped:]
    kinds = {each.kind for each in parameters}
    by_place = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    keywords = [each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    unnamed = [each.name for each in by_place if each.kind is each.POSITIONAL_ONLY]
    for name in named:
        if name in unnamed[len(given) :]:
            return UnknownKeyword.by_name(call, name)
        if name not in keywords and inspect.Parameter.VAR_KEYWORD not in kinds:
            return unknown_keyword(call, name, keywords)
    if len(given) > len(by_place) and inspect.Parameter.VAR_POSITIONAL not in kinds:
        others = [name for name in keywords if name not in {each.name for each in by_place} and name not in named]
        return UnknownKeyword.too_many(call, len(by_place), len(given), others, BY_NAME.get(call))
    for place, each in enumerate(parameters):
        is_given = each.name in named or (each in by_place and place < len(given))
        if not is_given and each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            before = ", ".join(one.name for one in by_place[: place + 1])
            example = EXAMPLES.get(each.name) or (f"{call}({before}, …)" if each in by_place else f"{each.name}=…")
            return UnknownKeyword.missing(call, each.name, example)
    return None
