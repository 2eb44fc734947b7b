"""Answer mode: questions are drawn and answered once behind the walls, and attempts are compared outside them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.answers.question_variants import Variant, Variants
from grader.core.case import Case
from grader.core.context import Context, Stop
from grader.core.errors import GraderFault, SubmissionFault
from grader.inputs.own_inputs import OwnInputs
from grader.modes import reference_cache
from grader.modes.answer.grading import AnswerGrading
from grader.modes.answer.question_reader import BadVariant, different, read_variant, wrong_questions
from grader.modes.mode import GradingRequest, Mode
from grader.modes.package_code import failed, refuse, runner_spec
from grader.package.package import AnswerManifest, Package
from grader.sandbox.protocol import Sandbox

_FILE = "variants.frame"
_INSIDE = (Path(__file__).parent / "question_program.py").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class AnswerPrepared:
    """The questions. There are no cases, because nothing of an attempt is run."""

    questions: Variants
    cases: tuple[Case, ...] = ()


class AnswerMode(Mode[AnswerPrepared]):
    """See `Mode`."""

    def __init__(self, package: Package, manifest: AnswerManifest, sandbox: Sandbox) -> None:
        self._package = package
        self._manifest = manifest
        self._sandbox = sandbox
        self._spec = runner_spec(package)

    def warm(self) -> None:
        """Do nothing, because no attempt runs code."""

    def prepare(self, sandbox: Sandbox, key: str, context: Context) -> AnswerPrepared:
        context.progress("drawing the questions")
        package, manifest = self._package, self._manifest
        try:
            with sandbox.open(self._spec, context.stop) as session:
                session.load(self._code(), "hidden_cases")
                made = session.cases(key)
        except SubmissionFault as fault:
            raise failed(package, "questions.py or mistakes.py", fault) from None
        texts = [each.get("variant") for each in made if isinstance(each, dict)] if isinstance(made, list) else []
        if len(texts) != manifest.variants:
            raise GraderFault(f"{package.slug}: questions.py gave {len(texts)} questions, not {manifest.variants}")
        try:
            drawn = [read_variant(manifest, number, text) for number, text in enumerate(texts, 1)]
        except BadVariant as bad:
            raise GraderFault(f"{package.slug}: {bad}") from None
        variants = different(drawn)
        refuse(package, wrong_questions(package, manifest, variants))
        return AnswerPrepared(Variants(key, variants))

    def prepare_own(self, prepared: AnswerPrepared, own: OwnInputs, context: Context) -> AnswerPrepared:
        raise SubmissionFault("error", "The numbers of a question are drawn at random, so you cannot choose them.")

    def prepare_cases(self, cases: Sequence[Case], context: Context) -> AnswerPrepared:
        raise GraderFault("a problem of this mode has no cases")

    def variants(self, prepared: AnswerPrepared) -> Variants:
        return prepared.questions

    def store(self, folder: Path, prepared: AnswerPrepared) -> None:
        reference_cache.write_frame(folder / _FILE, prepared.questions.stored())

    def load(self, folder: Path) -> AnswerPrepared | None:
        try:
            message, _ = reference_cache.read_frame(folder / _FILE)
            return AnswerPrepared(Variants.read(message))
        except (*reference_cache.UNREADABLE, TypeError):
            return None

    def begin(self, prepared: AnswerPrepared, request: GradingRequest) -> AnswerGrading:
        return AnswerGrading(self._manifest, prepared.questions, request, self._solve)

    def _solve(self, parameters: dict[str, object], stop: Stop) -> Variant:
        """Answer a question that another version drew, for a rejudge by this version."""
        package = self._package
        try:
            with self._sandbox.open(self._spec, stop) as session:
                session.load(self._code(), "solve")
                text = session.call([json.dumps(parameters)]).get("result")
            return read_variant(self._manifest, 0, text)
        except SubmissionFault as fault:
            raise failed(package, f"questions.py, asked about {parameters},", fault) from None
        except BadVariant as bad:
            raise GraderFault(f"{package.slug}: {bad}") from None

    def _code(self) -> str:
        files = self._package.files
        appended = f"QUESTIONS = {files['questions.py']!r}\nMISTAKES = {files['mistakes.py']!r}\n"
        return f"{_INSIDE}\n\n{appended}VARIANTS = {self._manifest.variants}\n"
