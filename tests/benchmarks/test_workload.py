"""A workload has the cases that a service has prepared. Otherwise, no benchmark of a judge measures anything."""

from app.core.data_folder import SECRET_BYTES, judging_secret_of
from benchmarks.workload import CALL_SLUG, copy_package, take_workload
from grader.judging.judge import Judge
from grader.sandbox.build import build_sandbox


def test_it_has_what_a_service_prepared_in_its_data_folder(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "secret").write_bytes(bytes(SECRET_BYTES))
    package = copy_package(CALL_SLUG, tmp_path / "problems")
    with build_sandbox(data / "cache") as sandbox:
        Judge(sandbox, judging_secret_of(bytes(SECRET_BYTES)), data / "cache").prepare(package)
    workload = take_workload(package, package.accepted[0], data, tmp_path / "all", hidden=True)
    public = take_workload(package, package.accepted[0], data, tmp_path / "public", hidden=False)
    assert workload.cases == len(list(workload.frames.iterdir())) > public.cases > 0
