"""What a person does, once: a route of REST, and the form on a page that does the same.

    actions = Actions("people", PersonPage)

    @actions.put("/people/{person_id}/role", summary="Change the role of an account")
    async def set_role(person_id: str, caller: Owner, body: NewRoleJSON, people: Provided[PeopleChanges]) -> Person:
        ...

REST reads `body` from JSON, and the form reads it from its fields, which have the same names. What differs is said by
the page: where its browser goes when the action is done, and how it shows what was typed when the action is refused.
A button with nothing to type needs no page: `then` is the address where it leads.

`@actions.form(path)` is for what only a browser does, such as signing in: a form alone, read and refused in the same
way. docs/decisions/0034-actions-are-written-once.md says more.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeVar, get_origin

from fastapi import Request, params
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from starlette.responses import RedirectResponse, Response

from app.core.errors import Refused, SignInAgain
from app.core.rest.body import MAX_BYTES, refuse_fields
from app.core.rest.routing import MaxBytes, PageRouter, RestRouter, body_of
from app.core.services import Provided, with_services
from app.core.settings import Settings
from app.core.web.form_token import FIELD, check_form_token
from app.core.web.forms import MAX_FIELDS, read_unchecked_form

F = TypeVar("F", bound=Callable[..., Any])
P = TypeVar("P")
_MAX_BYTES = MaxBytes(MAX_BYTES)


# In the name of a box that, if it is checked, sends the field as an empty text. A field that is just left empty counts
# as left out.
_EMPTY = "empty-"


class Typed(dict[str, str]):
    """What was typed into a form, by field. A field that is not there is empty.

    An action with a parameter of this type reads the fields itself.
    """

    def __missing__(self, field: str) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class FromForm:
    """In the annotation of a field whose text in a form is not what REST is sent: `read` makes that of it.

    `read` raises `FieldInvalid`. It is not called for an empty text, which is an empty list, or a field left out.
    """

    read: Callable[[str], Any]


# For a text in which spaces at either end count, such as a password or a source.
AS_TYPED = FromForm(str)


class FormPage:
    """The page with the forms of some actions, for one request. Its constructor is a dependency of FastAPI.

    This one only has buttons. A page into which something is typed is a `TypedPage`, or overrides `refused`. `path` is
    where the page is, with its fields in braces: `/people/{person_id}`, `/courses/{course.id}`.
    """

    path: ClassVar[str] = "/"

    @property
    def address(self) -> str:
        return self.path.format_map(vars(self))

    async def fill(self, action: str, typed: Typed) -> Response | None:
        """Take what only this page understands out of `typed`, such as which of two buttons was pressed.

        If that is a button that helps to fill in the form, return the page with more typed into it. The action is
        done otherwise.
        """
        return None

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        """The page again, with why its form for `action` was refused and what was typed into it."""
        raise refusal

    async def done(self, action: str, result: Any) -> Response:
        """Where the browser goes when the action has returned `result`: to the page again."""
        return RedirectResponse(self.address, status_code=303)


class TypedPage(FormPage):
    """A page that shows what was typed into a form that was refused, so that it is not lost."""

    async def show(self, typed: Typed, refusal: Refused | None = None) -> Response:
        raise NotImplementedError

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show(typed, refusal)


def _in_loop(page: type[P]) -> Callable[..., Awaitable[P]]:
    """A page as a dependency. FastAPI would run its constructor in a thread, and the transaction of the page's reads
    would not wait for that.
    """

    async def make(**values: Any) -> P:
        return page(**values)

    make.__signature__ = inspect.signature(page)  # type: ignore[attr-defined]
    return with_services(make)


@dataclass(frozen=True)
class _PageOf(params.Depends):
    def __post_init__(self) -> None:
        page: Any = self.dependency
        if page is not None:  # FastAPI has filled in the type that it annotates.
            object.__setattr__(self, "dependency", _in_loop(page))


# `PageOf[PersonPage]` is a `PersonPage` for this request. What its constructor names, the request and services, are
# dependencies, as in the signature of a route.
PageOf = Annotated[P, _PageOf()]


class Actions:
    """Routes of REST (`api`) and of forms (`pages`) for actions that one page has the forms of.

    An action can say where its form differs. `form` is its path if that is another one: browsers cannot send PUT and
    DELETE. `then` is where the browser goes when it is done, instead of where the page says, with the names in the
    form's path and `result` in braces.

    Args:
      tag: under which the description of REST lists them.
      page: of the forms.
    """

    def __init__(self, tag: str, page: type[FormPage] = FormPage, prefix: str = "") -> None:
        self.api = RestRouter(tag, prefix)
        self.pages = PageRouter(prefix)
        self._page = page

    def post(self, path: str, **options: Any) -> Callable[[F], F]:
        return self._publish("POST", path, **options)

    def put(self, path: str, **options: Any) -> Callable[[F], F]:
        return self._publish("PUT", path, **options)

    def delete(self, path: str, **options: Any) -> Callable[[F], F]:
        return self._publish("DELETE", path, **{"status_code": 204, **options})

    def form(
        self,
        path: str,
        *,
        then: str | None = None,
        page: type[FormPage] | None = None,
        max_bytes: MaxBytes = _MAX_BYTES,
        max_fields: int = MAX_FIELDS,
    ) -> Callable[[F], F]:
        """A form without a route of REST.

        If the action returns a response, the browser gets that one.

        Args:
          page: of this form, if it is not that of the others.
        """

        def publish(action: F) -> F:
            submit = _submitted(action, page or self._page, then, max_bytes, max_fields)
            self.pages.add_api_route(path, submit, methods=["POST"])
            return action

        return publish

    def _publish(
        self,
        method: str,
        path: str,
        *,
        form: str | None = None,
        then: str | None = None,
        page: type[FormPage] | None = None,
        max_fields: int = MAX_FIELDS,
        **options: Any,
    ) -> Callable[[F], F]:
        def publish(action: F) -> F:
            # The form first: a route of REST changes the signature.
            self.form(path if form is None else form, then=then, page=page, max_fields=max_fields)(action)
            self.api.add_api_route(path, action, methods=[method], **options)
            return action

        return publish


def _submitted(
    action: Callable[..., Any], page: type[FormPage], then: str | None, max_bytes: MaxBytes, max_fields: int
) -> Callable[..., Any]:
    """The route of a form: it reads the fields, does the action, and shows the page."""
    parameters = inspect.signature(action, eval_str=True).parameters
    body = body_of(action)
    # FastAPI hands a route its request once.
    request = next((name for name, each in parameters.items() if each.annotation is Request), None)
    raw = next((name for name, each in parameters.items() if each.annotation is Typed), None)

    async def submit(form_page: FormPage, form_settings: Settings, **arguments: Any) -> Response:
        form_request: Request = arguments[request] if request else arguments.pop("form_request")
        limit = max_bytes.of(form_settings)
        typed = Typed(await read_unchecked_form(form_request, max_bytes=limit, max_fields=max_fields))
        try:
            check_form_token(form_request, typed.pop(FIELD, ""))
            filled = await form_page.fill(action.__name__, typed)
            if filled is not None:
                return filled
            if raw:
                arguments[raw] = typed
            if body:
                name, model = body
                arguments[name] = _read_fields(model, typed)
            result = await action(**arguments)
        except SignInAgain as needed:
            raise needed.back_to(form_page.address) from None
        except Refused as refusal:
            try:
                return await form_page.refused(action.__name__, refusal, typed)
            except Refused:
                # The page cannot be shown, for example because what it is about does not exist.
                raise refusal from None
        if isinstance(result, Response):
            return result
        if then is None:
            return await form_page.done(action.__name__, result)
        return RedirectResponse(then.format(result=result, **form_request.path_params), status_code=303)

    own: dict[str, Any] = {
        "form_page": Annotated[page, _PageOf(page)],
        "form_settings": Provided[Settings],
        **({} if request else {"form_request": Request}),
    }
    submit.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            *(
                each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
                for name, each in parameters.items()
                if name != raw and (body is None or name != body[0])
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
    """Numbers are read from their digits. A list has its lines, without spaces at either end, and the boxes named
    `field-value` that are checked.

    An empty field is one that was left out, as in a browser's form, and a box `empty-field` sends it empty.
    """
    fields: dict[str, Any] = {}
    for name, text in typed.items():
        field = model.model_fields.get(name)
        listed, _, value = name.partition("-")
        if field is None and listed in model.model_fields and _is_list(model.model_fields[listed]):
            fields[listed] = [*fields.get(listed, []), value]
        elif field is None and name.removeprefix(_EMPTY) in model.model_fields:
            fields[name.removeprefix(_EMPTY)] = ""
        elif field is not None and (reader := _reader(field)):
            if text.strip() or _is_list(field):
                fields[name] = reader.read(text) if text.strip() else []
        elif field is not None and _is_list(field):
            lines = [line.strip() for line in text.split("\n") if line.strip()]
            fields[name] = [*lines, *fields.get(name, [])]
        elif text.strip():
            fields.setdefault(name, text.strip())
    try:
        return model.model_validate(fields, strict=False)
    except ValidationError as error:
        refuse_fields(error)


def _reader(field: FieldInfo) -> FromForm | None:
    return next((each for each in field.metadata if isinstance(each, FromForm)), None)


def _is_list(field: FieldInfo) -> bool:
    return get_origin(field.annotation) is list
