"""The service's branch of the error tree: why a request is refused. app/core/start_errors.py has the commands' branch.

A package with several of its own refusals has an errors.py.

MeshgradeError (grader/core/errors.py)
├── Refused                      a response to a request: `status`, `slug` and `title`; rendered by app/core/rest/
│   ├── BodyRefused              the body as a whole cannot be read
│   ├── SourceRefused            a submission that cannot be stored or graded
│   ├── …NotFound, NotSignedIn, …
│   └── GradingRefused           a wall is missing
└── PackageNotStored             a version that is missing from the database, or damaged in it
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from grader.core.errors import MeshgradeError
from grader.package.fault import PackageFault


class Refused(MeshgradeError):
    """A request is refused. The message is the `detail`, `extra` has further members, and `headers` are sent along.

    `on_page` is what a person reads instead of a `detail` that is for programs.
    """

    status: ClassVar[int] = 400
    slug: ClassVar[str] = "refused"
    title: ClassVar[str] = "The request was refused"

    def __init__(
        self, detail: str, *, on_page: str | None = None, headers: dict[str, str] | None = None, **extra: Any
    ) -> None:
        super().__init__(detail)
        self.on_page = detail if on_page is None else on_page
        self.headers = headers or {}
        self.extra = extra


class BodyRefused(Refused):
    """The body as a whole cannot be read."""


class BodyTooLarge(BodyRefused):
    status, slug, title = 413, "body-too-large", "The body is too large"


class BodyNotUTF8(BodyRefused):
    status, slug, title = 400, "body-not-utf8", "The body is not UTF-8"


class BodyNotJSON(BodyRefused):
    status, slug, title = 400, "body-not-json", "The body is not JSON"


class ContentTypeNotJSON(BodyRefused):
    status, slug, title = 415, "content-type-not-json", "The content type is not JSON"


class ContentTypeNotZip(BodyRefused):
    status, slug, title = 415, "content-type-not-zip", "The content type is not that of a zip"


class BodyNotZip(BodyRefused):
    status, slug, title = 400, "body-not-zip", "The body is not a zip"


class FieldMissing(BodyRefused):
    status, slug, title = 422, "field-missing", "A field is missing"


class FieldUnknown(BodyRefused):
    status, slug, title = 422, "field-unknown", "A field is unknown"


class FieldRepeated(BodyRefused):
    status, slug, title = 422, "field-repeated", "A field is repeated"


class FieldInvalid(BodyRefused):
    status, slug, title = 422, "field-invalid", "A field has the wrong type or value"


class SourceRefused(Refused):
    """A submission that cannot be stored or graded."""


class SourceEmpty(SourceRefused):
    status, slug, title = 422, "source-empty", "The source is empty"


class SourceNotFormatted(SourceRefused):
    status, slug, title = 422, "source-not-formatted", "The source cannot be formatted"


class SourceTooLarge(SourceRefused):
    status, slug, title = 413, "source-too-large", "The source is too large"


class SourceHasNUL(SourceRefused):
    status, slug, title = 422, "source-has-nul", "The source contains a NUL character"


class SourceNotText(SourceRefused):
    status, slug, title = 422, "source-not-text", "The source is not valid Unicode text"


class ProblemNotFound(Refused):
    status, slug, title = 404, "problem-not-found", "There is no such problem"


class PackageRefused(Refused):
    """`faults` has everything that is wrong with the package, and lists it in the answer, up to a number."""

    status, slug, title = 422, "package-invalid", "The package is not valid"
    _MOST_SHOWN = 50

    def __init__(self, faults: Sequence[PackageFault]) -> None:
        shown = [str(each) for each in faults[: self._MOST_SHOWN]]
        if len(faults) > self._MOST_SHOWN:
            shown.append(f"and {len(faults) - self._MOST_SHOWN} more")
        super().__init__(f"Fix this and send it again: {'; '.join(shown)}.", faults=shown)
        self.faults = faults


class PackageOfAnotherProblem(Refused):
    status, slug, title = 409, "package-of-another-problem", "The package belongs to another problem"


class VersionNotFound(Refused):
    status, slug, title = 404, "version-not-found", "There is no such version"


class VariantNotFound(Refused):
    status, slug, title = 404, "variant-not-found", "The problem has no such variant"


class VersionNotValidated(Refused):
    status, slug, title = 409, "version-not-validated", "This version has not passed validation"


class PublicationNotFound(Refused):
    status, slug, title = 404, "publication-not-found", "There is no such publication"


class ValidationNotFound(Refused):
    status, slug, title = 404, "validation-not-found", "There is no such validation"


class AttemptNotFound(Refused):
    status, slug, title = 404, "attempt-not-found", "There is no such attempt"


class ShareNotFound(Refused):
    status, slug, title = 404, "share-not-found", "This link does not lead to an attempt"


class WebhookNotFound(Refused):
    status, slug, title = 404, "webhook-not-found", "There is no such webhook"


class DeliveryNotFound(Refused):
    status, slug, title = 404, "delivery-not-found", "There is no such delivery"


class WebhookURLRefused(Refused):
    status, slug, title = 422, "webhook-url-refused", "This address cannot receive webhooks"


class TooManyWebhooks(Refused):
    status, slug, title = 409, "too-many-webhooks", "You have too many webhooks"


class AttemptFinished(Refused):
    status, slug, title = 409, "attempt-finished", "The attempt is already finished"


class AlreadyAccepted(Refused):
    status, slug, title = 409, "already-accepted", "You have solved this problem"


class ExamOpen(Refused):
    status, slug, title = 403, "exam-open", "This is closed while your exam or interview is open"


class EditorialClosed(Refused):
    status, slug, title = 403, "editorial-closed", "The editorial is not open to you yet"


class IdempotencyKeyReused(Refused):
    status, slug, title = 409, "idempotency-key-reused", "The idempotency key was used for another request"


class MeshNotFound(Refused):
    status, slug, title = 404, "mesh-not-found", "The problem has no such mesh"


class TypedInputsUnfit(Refused):
    """`faults` has a message for each argument."""

    status, slug, title = 409, "inputs-unfit", "The inputs do not fit the problem"


class AnswersUnfit(Refused):
    """`faults` has a message for each answer."""

    status, slug, title = 409, "answers-unfit", "The answers cannot be read"


class QuestionChanged(Refused):
    status, slug, title = 409, "question-changed", "These answers are for another question"


class NothingToRun(Refused):
    status, slug, title = 409, "nothing-to-run", "There is nothing to run"


class NothingToCompare(Refused):
    status, slug, title = 409, "nothing-to-compare", "There is no code to compare"


class QuestionNotFound(Refused):
    status, slug, title = 404, "question-not-found", "The problem has no question"


class QuestionsNotDrawn(Refused):
    status, slug, title = 503, "questions-not-drawn", "The questions of this problem are not ready"


class DraftConflict(Refused):
    status, slug, title = 409, "draft-conflict", "The draft was changed in another tab or on another device"


class DraftNotFound(Refused):
    status, slug, title = 404, "draft-not-found", "There is no such draft"


class ComparisonInvalid(Refused):
    status, slug, title = 422, "comparison-invalid", "These two cannot be compared"


class TooManyGuestRuns(Refused):
    status, slug, title = 429, "too-many-guest-runs", "Too many runs without an account"


class ReportNotFound(Refused):
    status, slug, title = 404, "report-not-found", "There is no such report"


class LineNotFound(Refused):
    status, slug, title = 404, "line-not-found", "The source has no such line"


class CommentNotFound(Refused):
    status, slug, title = 404, "comment-not-found", "There is no such comment"


class TooManyComments(Refused):
    status, slug, title = 409, "too-many-comments", "The attempt has too many comments"


class ClusterNotFound(Refused):
    status, slug, title = 404, "cluster-not-found", "There is no such group of attempts"


class MisconceptionRefused(Refused):
    status, slug, title = 409, "misconception-refused", "The attempt cannot become a misconception"


class OverrideRefused(Refused):
    status, slug, title = 409, "override-refused", "The points cannot be changed"


class OverrideNotFound(Refused):
    status, slug, title = 404, "override-not-found", "The points were not changed by hand"


class TooManyReports(Refused):
    status, slug, title = 429, "too-many-reports", "You have reported too many faults"


class TooManyWaiting(Refused):
    status, slug, title = 429, "too-many-waiting", "Too many attempts are waiting"


class TooManyFollowed(Refused):
    status, slug, title = 429, "too-many-followed", "You follow too many attempts at once"


class TooManyToFormat(Refused):
    status, slug, title = 429, "too-many-to-format", "Another source of yours is being formatted"


class FormattingBusy(Refused):
    status, slug, title = 503, "formatting-busy", "Too many sources wait to be formatted"


class NotSignedIn(Refused):
    status, slug, title = 401, "not-signed-in", "You are not signed in"


class TokenInvalid(Refused):
    status, slug, title = 401, "token-invalid", "The API token is not valid"


class IdentityTaken(Refused):
    status, slug, title = 409, "identity-taken", "Another account already uses this sign-in"


class PersonNotFound(Refused):
    status, slug, title = 404, "person-not-found", "There is no such account"


class AssignmentNotFound(Refused):
    status, slug, title = 404, "assignment-not-found", "There is no such assignment"


class PersonDeactivated(Refused):
    status, slug, title = 409, "person-deactivated", "The account is deactivated"


class MergeRefused(Refused):
    status, slug, title = 409, "merge-refused", "The accounts were not merged"


class OwnAccount(Refused):
    status, slug, title = 409, "own-account", "You cannot do this to your own account"


class AuditEntryNotFound(Refused):
    status, slug, title = 404, "audit-entry-not-found", "There is no such entry"


class SignInAgain(Refused):
    """`sign_in` in `extra` is the page where users confirm that it is them. `back` is the page that they asked for."""

    status, slug, title = 403, "sign-in-again", "Confirm that it is you"
    back = "/account"

    def back_to(self, page: str) -> "SignInAgain":
        self.back = page
        return self


class RoleMissing(Refused):
    status, slug, title = 403, "role-missing", "Your role does not permit this"


class FormTokenInvalid(Refused):
    status, slug, title = 403, "form-token-invalid", "The form is out of date"


class HostUnknown(Refused):
    status, slug, title = 421, "host-unknown", "The service does not have this host name"


class MetricsRefused(Refused):
    status, slug, title = 403, "metrics-refused", "The metrics are closed"


class GradingRefused(Refused):
    status, slug, title = 503, "wall-missing", "Nothing is graded because the sandbox is incomplete"


class NotReady(Refused):
    status, slug, title = 503, "not-ready", "The service is not ready to grade"


class DatabaseBusy(Refused):
    status, slug, title = 503, "database-busy", "The database does not respond"


class ServerBusy(Refused):
    status, slug, title = 503, "server-busy", "The service is busy"


class PathNotFound(Refused):
    status, slug, title = 404, "not-found", "There is nothing here"


class MethodNotAllowed(Refused):
    status, slug, title = 405, "method-not-allowed", "The method is not allowed here"


class RequestRefused(Refused):
    status, slug, title = 400, "bad-request", "The request cannot be understood"


class InternalError(Refused):
    status, slug, title = 500, "internal-error", "Something went wrong on our side"


class PackageNotStored(MeshgradeError):
    """The database has no intact package of this version."""
