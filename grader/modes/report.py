"""Make a submission's verdict from its findings."""

import time

from grader import checks
from grader.checks.finding import Finding
from grader.core.errors import GraderFault, SubmissionFault
from grader.core.reasons import Reason
from grader.core.wire import Message
from grader.modes.import_advice import import_advice
from grader.package.package import Package
from grader.sandbox.protocol import Output
from grader.verdicts.evidence import Fault
from grader.verdicts.verdict import CaseResult, CheckResult, Efficiency, Status, Timings, Verdict

NO_OUTPUT = Output(stdout="", stderr="", truncated=False)
_FAILED = "The grader failed, not your code. This does not count, and the operators have been notified."


class Report:
    """Collects timings and makes the verdict. Set `environment` once there is a runner."""

    def __init__(self, package: Package, *, hidden: bool, walls: tuple[str, ...]) -> None:
        self._package = package
        self._hidden = hidden
        self._walls = walls
        self._started = time.monotonic()
        self.environment: Message = {}
        self.import_s = self.run_s = self.verify_s = 0.0

    def failed(self) -> Verdict:
        finding = Finding(False, _FAILED)
        findings = {spec.id: finding for spec in self._package.manifest.checks}
        return self.verdict(findings, [], NO_OUTPUT, status="failed")

    def never_ran(self, fault: SubmissionFault, output: Output) -> Verdict:
        first, *rest = self._package.manifest.checks
        findings = {
            first.id: Finding(
                False, fault_message(fault), fault.reason, Fault.entries_of(fault.detail), headlines=[fault.headline]
            )
        }
        findings |= {spec.id: Finding(False, "Not judged: no case ran.", fault.reason) for spec in rest}
        return self.verdict(findings, [], output)

    def verdict(
        self,
        findings: dict[str, Finding],
        cases: list[CaseResult],
        output: Output,
        *,
        misconception: str | None = None,
        efficiency: Efficiency | None = None,
        status: Status | None = None,
    ) -> Verdict:
        reason: Reason | None = next((finding.reason for finding in findings.values() if finding.reason), None)
        passed = all(finding.passed for finding in findings.values())
        status = status or ("accepted" if passed else "rejected")
        if status == "rejected" and reason is None:
            raise GraderFault("a check failed without a reason")
        results = [
            CheckResult(
                id=spec.id,
                title=spec.title or checks.load(self._package.manifest.mode, spec.id).TITLE,
                passed=findings[spec.id].passed,
                checked=findings[spec.id].checked,
                points=spec.points if findings[spec.id].passed else findings[spec.id].points,
                max_points=spec.points,
                trust=checks.load(self._package.manifest.mode, spec.id).TRUST,
                message=findings[spec.id].message,
                headlines=list(findings[spec.id].headlines),
                evidence=list(findings[spec.id].evidence),
            )
            for spec in self._package.manifest.checks
        ]
        return Verdict(
            problem=self._package.slug,
            version=self._package.version,
            variant=self._package.variant_name,
            status=status,
            reason=reason,
            score=self._score(results, findings) if self._hidden else None,
            checks=results,
            cases=cases,
            misconception=misconception,
            efficiency=efficiency if status == "accepted" and self._hidden else None,
            stdout=output.stdout,
            stderr=output.stderr,
            truncated=output.truncated,
            walls=list(self._walls),
            environment=self.environment,
            timings_ms=self._timings(),
        )

    def _score(self, results: list[CheckResult], findings: dict[str, Finding]) -> int:
        """The points of all checks. If a value is wrong, only what `values` itself still earns counts."""
        return sum(result.points for result in results if findings["values"].passed or result.id == "values")

    def _timings(self) -> Timings:
        total = time.monotonic() - self._started
        spans = {"import_": self.import_s, "run": self.run_s, "verify": self.verify_s, "total": total}
        return Timings(**{name: round(span * 1000) for name, span in spans.items()})


def fault_line(fault: SubmissionFault) -> int | None:
    """The line of the source that is at fault: of a syntax error, or the last one of the traceback."""
    line = fault.detail.get("line")
    frames = fault.detail.get("traceback")
    if line is None and isinstance(frames, list) and frames:
        line = frames[-1]["line"]
    return line if isinstance(line, int) and line > 0 else None


def fault_message(fault: SubmissionFault) -> str:
    """The submission's traceback as Python prints it, or the message if there is none."""
    name = fault.detail.get("type")
    if not isinstance(name, str):
        return str(fault)
    lines = [f"{name}: {fault}" if str(fault) else name]
    frames = fault.detail.get("traceback")
    if isinstance(frames, list) and frames:
        where = [f"  line {frame['line']}, in {frame['function']}\n    {frame['text']}" for frame in frames]
        lines = ["Your code raised an exception:", *where, *lines]
    if fault.reason == "memory_limit":
        lines.append("That is more memory than a submission may use.")
    if name == "PermissionError" or (name == "OSError" and str(fault).startswith("[Errno 30]")):
        lines.append(
            "A submission must not start or signal processes, open sockets, map files into memory, or use files "
            "outside its scratch, /tmp."
        )
    if (advice := import_advice(name, str(fault), takes_modules=fault.detail.get("takes_modules") is True)) is not None:
        lines.append(advice)
    return "\n".join(lines)
