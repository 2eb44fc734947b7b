"""Why a request about accounts is refused. See app/core/errors.py."""

from app.core.errors import Refused


class TooManyRequests(Refused):
    status, slug, title = 429, "too-many-requests", "Too many requests"


class SignInLinkInvalid(Refused):
    status, slug, title = 403, "sign-in-link-invalid", "The sign-in link no longer works"


class SignInRefused(Refused):
    status, slug, title = 401, "sign-in-refused", "The sign-in was refused"


class TooManySignIns(Refused):
    status, slug, title = 429, "too-many-sign-ins", "Too many failed sign-ins"


class TooManySignUps(Refused):
    status, slug, title = 429, "too-many-sign-ups", "Too many new accounts"


class SignInCancelled(Refused):
    status, slug, title = 403, "sign-in-cancelled", "The sign-in was not completed"


class ProviderFailed(Refused):
    status, slug, title = 502, "provider-failed", "The sign-in provider failed"


class IdentityNotFound(Refused):
    status, slug, title = 404, "identity-not-found", "There is no such sign-in"


class LastWayIn(Refused):
    status, slug, title = 409, "last-way-in", "This is your only way to sign in"


class SignUpClosed(Refused):
    status, slug, title = 403, "sign-up-closed", "You cannot create an account this way"


class InvitationInvalid(Refused):
    status, slug, title = 403, "invitation-invalid", "The invitation no longer works"


class NameInvalid(Refused):
    status, slug, title = 422, "name-invalid", "The name cannot be used"


class NameDiffers(Refused):
    status, slug, title = 409, "name-differs", "This is not the name of the account"


class NameTaken(Refused):
    status, slug, title = 409, "name-taken", "This name is taken"


class PasswordRefused(Refused):
    status, slug, title = 422, "password-refused", "The password cannot be used"


class SessionNotFound(Refused):
    status, slug, title = 404, "session-not-found", "There is no such session"


class TokenNotFound(Refused):
    status, slug, title = 404, "token-not-found", "There is no such API token"


class TooManyTokens(Refused):
    status, slug, title = 409, "too-many-tokens", "You have too many API tokens"


class LastOwner(Refused):
    status, slug, title = 409, "last-owner", "The last owner cannot leave"


class AccountDeactivated(Refused):
    status, slug, title = 403, "account-deactivated", "This account is deactivated"


class InvitationNotFound(Refused):
    status, slug, title = 404, "invitation-not-found", "There is no such invitation"


class TooManyInvitations(Refused):
    status, slug, title = 409, "too-many-invitations", "You have too many invitations"


class ScopeMissing(Refused):
    """`scope` in `extra` names the scope that the request needs."""

    status, slug, title = 403, "scope-missing", "The API token does not permit this"


class SessionNeeded(Refused):
    status, slug, title = 403, "session-needed", "This requires signing in with a browser"


class OriginRefused(Refused):
    status, slug, title = 403, "origin-refused", "The request came from another site"
