"""What a person does, once: a route of REST, and the form on a page that does the same.

    actions = Actions("people", PersonPage)

    @actions.put("/people/{person_id}/role", summary="Change the role of an account")
    async def set_role(person_id: str, caller: Owner, body: NewRoleJSON, people: Provided[PeopleChanges]) -> Person:
        ...

REST reads `body` from JSON, and the form reads it from its fields, which have the same names. What differs is said by
the page: where its browser goes when the action is done, and how it shows what was typed when the action is refused.
docs/decisions/0034-actions-are-written-once.md says what this is not for.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ValidationError
from starlette.responses import RedirectResponse, Response

from app.core.errors import Refused, SignInAgain
from app.core.rest.body import refuse_fields
from app.core.rest.routing import body_of, rest_router
from app.core.web.forms import read_form

F = TypeVar("F", bound=Callable[..., Any])
_FEW_BYTES = 4096


class Typed(dict[str, str]):
    """What was typed into a form, by field. A field that is not there is empty."""

    def __missing__(self, field: str) -> str:
        return ""


class FormPage(ABC):
    """The page with the forms of some actions, for one request. Its constructor is a dependency of FastAPI."""

    @property
    @abstractmethod
    def address(self) -> str:
        """Where the page is."""

    @abstractmethod
    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        """The page again, with why its form for `action` was refused and what was typed into it."""

    async def done(self, action: str, result: Any) -> Response:
        """Where the browser goes when the action has returned `result`: to the page again, which can say so."""
        return RedirectResponse(f"{self.address}?done={action}", status_code=303)


class Actions:
    """Routes of REST (`api`) and of forms (`pages`) for actions that one page has the forms of.

    Args:
      tag: under which the description of REST lists them.
      page: of the forms.
    """

    def __init__(self, tag: str, page: type[FormPage], prefix: str = "") -> None:
        self.api = rest_router(tag, prefix)
        self.pages = APIRouter(prefix=prefix, include_in_schema=False)
        self._page = page

    def post(self, path: str, **options: Any) -> Callable[[F], F]:
        return self._publish("POST", path, path, options)

    def put(self, path: str, *, form: str | None = None, **options: Any) -> Callable[[F], F]:
        """`form` is the path of the form if it is another one: browsers cannot send PUT and DELETE."""
        return self._publish("PUT", path, path if form is None else form, options)

    def delete(self, path: str, *, form: str, **options: Any) -> Callable[[F], F]:
        return self._publish("DELETE", path, form, {"status_code": 204, **options})

    def _publish(self, method: str, path: str, form: str, options: dict[str, Any]) -> Callable[[F], F]:
        def publish(action: F) -> F:
            # The form first: a route of REST changes the signature.
            self.pages.add_api_route(form, _submitted(action, self._page), methods=["POST"])
            self.api.add_api_route(path, action, methods=[method], **options)
            return action

        return publish


def _submitted(action: Callable[..., Any], page: type[FormPage]) -> Callable[..., Any]:
    """The route of a form: it reads the fields, does the action, and shows the page."""
    parameters = inspect.signature(action, eval_str=True).parameters
    body = body_of(action)
    # FastAPI hands a route its request once.
    request = next((name for name, each in parameters.items() if each.annotation is Request), None)

    async def submit(form_page: FormPage, **arguments: Any) -> Response:
        form_request = arguments[request] if request else arguments.pop("form_request")
        typed = Typed(await read_form(form_request, max_bytes=_most_bytes(body[1]) if body else _FEW_BYTES))
        try:
            if body:
                name, model = body
                arguments[name] = _read_fields(model, typed)
            result = await action(**arguments)
        except SignInAgain as needed:
            raise needed.back_to(form_page.address) from None
        except Refused as refusal:
            return await form_page.refused(action.__name__, refusal, typed)
        return await form_page.done(action.__name__, result)

    own = {"form_page": Annotated[page, Depends()]} | ({} if request else {"form_request": Request})
    submit.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            *(
                each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
                for name, each in parameters.items()
                if body is None or name != body[0]
            ),
            *(
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation)
                for name, annotation in own.items()
            ),
        ]
    )
    submit.__name__ = action.__name__
    return submit


def _read_fields(model: type[BaseModel], typed: Mapping[str, str]) -> BaseModel:
    """Numbers are read from their digits. An empty field is one that was left out, as in a browser's form."""
    try:
        return model.model_validate({name: value for name, value in typed.items() if value.strip()}, strict=False)
    except ValidationError as error:
        refuse_fields(error)


def _most_bytes(model: type[BaseModel]) -> int:
    """Of the form. Percent-encoding turns one character into at most twelve bytes."""
    lengths: list[int] = [each.get("maxLength", 100) for each in model.model_json_schema()["properties"].values()]
    return 12 * sum(lengths) + _FEW_BYTES
