"""The description at /openapi.json: names that clients are generated with, possible answers, examples that hold."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from tests.app.core.rest import examples, openapi_document

# Part of the interface: a client that was generated from the description has a method of each name. Add, never rename.
OPERATIONS = """
    GET /api/v1/problems list_problems
    GET /api/v1/problems/{slug} get_problem
    GET /api/v1/problems/{slug}/hints list_hints
    PUT /api/v1/problems/{slug} upload_package
    POST /api/v1/problems/{slug}/attempts submit_attempt
    GET /api/v1/problems/{slug}/draft read_draft
    PUT /api/v1/problems/{slug}/draft save_draft
    POST /api/v1/format format_python
    PUT /api/v1/courses/{course_id}/people/{person_id} add_to_course
    GET /api/v1/problems/{slug}/editorial read_editorial
    POST /api/v1/problems/{slug}/give-up give_up
    GET /api/v1/problems/{slug}/question read_question
    POST /api/v1/problems/{slug}/runs submit_run
    GET /api/v1/problems/{slug}/ranking get_ranking
    GET /api/v1/me/progress get_progress
    GET /api/v1/attempts list_attempts
    POST /api/v1/batch/attempts submit_batch
    GET /api/v1/batch/attempts get_batch
    GET /api/v1/attempts/{attempt_id} get_attempt
    DELETE /api/v1/attempts/{attempt_id} cancel_attempt
    GET /api/v1/attempts/{attempt_id}/events follow_attempt
    GET /api/v1/attempts/{attempt_id}/comments list_comments
    PUT /api/v1/attempts/{attempt_id}/comments/{comment_id} resolve_comment
    GET /api/v1/me get_me
    DELETE /api/v1/me delete_me
    GET /api/v1/me/export export_me
    GET /api/v1/tokens list_tokens
    POST /api/v1/tokens create_token
    DELETE /api/v1/tokens/{token_id} revoke_token
    GET /api/v1/invitations list_invitations
    POST /api/v1/invitations create_invitation
    POST /api/v1/batch/invitations invite_class
    DELETE /api/v1/invitations/{invitation_id} revoke_invitation
    GET /api/v1/webhooks list_webhooks
    POST /api/v1/webhooks add_webhook
    GET /api/v1/webhooks/{webhook_id} get_webhook
    DELETE /api/v1/webhooks/{webhook_id} delete_webhook
    GET /api/v1/webhooks/{webhook_id}/deliveries list_deliveries
    GET /api/v1/problems/{slug}/versions list_versions
    GET /api/v1/problems/{slug}/versions/{version} download_version
    POST /api/v1/problems/{slug}/validations validate_package
    GET /api/v1/problems/{slug}/validations list_validations
    GET /api/v1/problems/{slug}/validations/{validation_id} get_validation
    POST /api/v1/problems/{slug}/publish publish_package
    GET /api/v1/problems/{slug}/publications list_publications
    POST /api/v1/problems/{slug}/rejudge rejudge_problem
    POST /api/v1/problems/{slug}/rejudge/count count_rejudge
    GET /api/v1/problems/{slug}/rejudges list_rejudges
    GET /api/v1/problems/{slug}/rejudges/{rejudge_id} get_rejudge
    DELETE /api/v1/problems/{slug}/rejudges/{rejudge_id} cancel_rejudge
    GET /api/v1/problems/{slug}/rejudges/{rejudge_id}/changes list_changes
    POST /api/v1/problems/{slug}/rejudges/{rejudge_id}/apply apply_rejudge
    GET /api/v1/people list_people
    GET /api/v1/people/{person_id} get_person
    PUT /api/v1/people/{person_id}/role set_role
    POST /api/v1/people/{person_id}/deactivate deactivate_person
    POST /api/v1/people/{person_id}/reactivate reactivate_person
    POST /api/v1/people/{person_id}/password-reset reset_password
    GET /api/v1/people/{person_id}/attempts list_attempts_of_person
    GET /api/v1/people/{person_id}/attempts/{attempt_id} get_attempt_of_person
    GET /api/v1/people/{person_id}/attempts/{attempt_id}/comments list_comments_of_person
    POST /api/v1/people/{person_id}/attempts/{attempt_id}/comments add_comment
    DELETE /api/v1/people/{person_id}/attempts/{attempt_id}/comments/{comment_id} remove_comment
    GET /api/v1/people/{person_id}/attempts/{attempt_id}/grading get_grading
    PUT /api/v1/people/{person_id}/attempts/{attempt_id}/override override_score
    DELETE /api/v1/people/{person_id}/attempts/{attempt_id}/override undo_override
    GET /api/v1/problems/{slug}/people list_who_tried
    GET /api/v1/courses list_courses
    POST /api/v1/courses create_course
    POST /api/v1/courses/join join_course
    GET /api/v1/courses/{course_id} get_course
    PUT /api/v1/courses/{course_id} change_course
    DELETE /api/v1/courses/{course_id} delete_course
    POST /api/v1/courses/{course_id}/join-code renew_join_code
    GET /api/v1/courses/{course_id}/export export_course
    GET /api/v1/courses/{course_id}/audit list_course_audit_entries
    GET /api/v1/courses/{course_id}/copy preview_copy
    POST /api/v1/courses/{course_id}/copy copy_course
    GET /api/v1/courses/{course_id}/instructors list_instructors
    POST /api/v1/courses/{course_id}/instructors add_instructor
    DELETE /api/v1/courses/{course_id}/instructors/{person_id} remove_instructor
    PUT /api/v1/courses/{course_id}/archive archive_course
    DELETE /api/v1/courses/{course_id}/archive open_course_again
    GET /api/v1/courses/{course_id}/assignments list_assignments
    POST /api/v1/courses/{course_id}/assignments create_assignment
    PUT /api/v1/courses/{course_id}/assignments/{assignment_id} change_assignment
    DELETE /api/v1/courses/{course_id}/assignments/{assignment_id} withdraw_assignment
    GET /api/v1/courses/{course_id}/assignments/{assignment_id}/extensions list_extensions
    PUT /api/v1/courses/{course_id}/assignments/{assignment_id}/extensions/{person_id} extend_assignment
    GET /api/v1/courses/{course_id}/assignments/{assignment_id}/start get_exam_start
    POST /api/v1/courses/{course_id}/assignments/{assignment_id}/start start_exam
    GET /api/v1/courses/{course_id}/problems list_course_problems
    POST /api/v1/courses/{course_id}/problems give_problem
    DELETE /api/v1/courses/{course_id}/problems/{slug} take_problem_back
    POST /api/v1/courses/{course_id}/roster import_roster
    GET /api/v1/courses/{course_id}/roster list_roster
    POST /api/v1/courses/{course_id}/invitations/mails mail_invitations
    DELETE /api/v1/courses/{course_id}/roster/{line_id} remove_roster_line
    GET /api/v1/courses/{course_id}/announcements list_announcements
    POST /api/v1/courses/{course_id}/announcements announce
    DELETE /api/v1/courses/{course_id}/announcements/{announcement_id} remove_announcement
    DELETE /api/v1/courses/{course_id}/people/{person_id} remove_from_course
    PUT /api/v1/courses/{course_id}/people/{person_id}/role set_role_in_course
    GET /api/v1/courses/{course_id}/assistants list_assistants
    PUT /api/v1/courses/{course_id}/people/{person_id}/rights set_rights
    GET /api/v1/courses/{course_id}/gradebook get_gradebook
    GET /api/v1/courses/{course_id}/assignments/{assignment_id}/cells/{slug}/{person_id} get_cell
    PUT /api/v1/courses/{course_id}/assignments/{assignment_id}/cells/{slug}/{person_id} put_cell
    DELETE /api/v1/courses/{course_id}/assignments/{assignment_id}/cells/{slug}/{person_id} clear_cell
    GET /api/v1/courses/{course_id}/assignments/{assignment_id}/sections list_section_dates
    PUT /api/v1/courses/{course_id}/assignments/{assignment_id}/sections replace_section_dates
    GET /api/v1/courses/{course_id}/categories list_categories
    PUT /api/v1/courses/{course_id}/categories replace_categories
    GET /api/v1/insight list_insight
    GET /api/v1/reports list_reports
    PUT /api/v1/reports/{report_id} mark_report
    GET /api/v1/problems/{slug}/insight get_insight
    GET /api/v1/problems/{slug}/insight/clusters/{key} get_cluster
    POST /api/v1/problems/{slug}/insight/misconceptions add_misconception
    GET /api/v1/audit list_audit_entries
    POST /api/v1/people/{person_id}/merge merge_people
    POST /api/v1/people/{person_id}/erase erase_person
    GET /api/v1/people/{person_id}/export export_person
    GET /api/v1/problems/{slug}/similarity get_similarity
    GET /api/v1/problems/{slug}/similarity.csv get_similarity_csv
    GET /api/v1/lti/platforms list_platforms
    POST /api/v1/lti/platforms add_platform
    POST /api/v1/lti/platforms/links create_registration_link
    PUT /api/v1/lti/platforms/{platform_id}/deployments set_deployments
    DELETE /api/v1/lti/platforms/{platform_id} remove_platform
    GET /api/v1/calculators list_calculators
    GET /api/v1/calculators/state calculate_state
    GET /api/v1/calculators/peak-memory calculate_peak_memory
    GET /api/v1/calculators/batch-plan calculate_batch_plan
    GET /api/v1/calculators/checkpointing calculate_checkpointing
    GET /api/v1/calculators/traffic calculate_traffic
    GET /api/v1/calculators/communication-time calculate_communication_time
    GET /api/v1/calculators/scaling calculate_scaling
    GET /api/v1/calculators/flops calculate_flops
    GET /api/v1/calculators/pipeline-bubble calculate_pipeline_bubble
    GET /api/v1/calculators/critical-batch calculate_critical_batch
    GET /api/v1/lessons list_lessons
    GET /api/v1/lessons/{slug} get_lesson
    POST /api/v1/lessons/{slug}/runs run_lesson_program
    GET /api/v1/lesson-runs/{lesson_run_id} get_lesson_run
    GET /api/v1/lesson-runs/{lesson_run_id}/events follow_lesson_run
    DELETE /api/v1/lesson-runs/{lesson_run_id} remove_lesson_run
    POST /api/v1/explorations explore
    GET /api/v1/explorations list_explorations
    GET /api/v1/interviews list_interviews
    POST /api/v1/interviews begin_interview
    GET /api/v1/interviews/{interview_id} get_interview
    POST /api/v1/interviews/{interview_id}/next go_on
    POST /api/v1/interviews/{interview_id}/end end_interview
    GET /api/v1/tracks/{track}/completion get_completion
    POST /api/v1/tracks/{track}/completion/sharing share_completion
    DELETE /api/v1/tracks/{track}/completion/sharing unshare_completion
    GET /api/v1/explorations/{exploration_id} get_exploration
    GET /api/v1/explorations/{exploration_id}/events follow_exploration
    DELETE /api/v1/explorations/{exploration_id} remove_exploration
    PUT /api/v1/explorations/{exploration_id}/sharing share_exploration
    DELETE /api/v1/explorations/{exploration_id}/sharing unshare_exploration
    GET /api/v1/repositories list_repositories
    POST /api/v1/repositories add_repository
    GET /api/v1/repositories/{repository_id} get_repository
    DELETE /api/v1/repositories/{repository_id} remove_repository
    POST /api/v1/repositories/{repository_id}/syncs sync_repository
    GET /api/v1/repositories/{repository_id}/syncs list_syncs
    GET /api/v1/repositories/{repository_id}/syncs/{sync_id} get_sync
    POST /api/v1/repositories/{repository_id}/webhook receive_push
    GET /healthz healthz
    GET /readyz readyz
    WEBHOOK attempt.finished attempt_finished
"""


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    return openapi_document.described()


def operations(described: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation
    for name, methods in described["webhooks"].items():
        for operation in methods.values():
            yield "WEBHOOK", name, operation


def test_an_operation_keeps_its_name(described):
    found = {f"{method} {path} {each['operationId']}" for method, path, each in operations(described)}
    assert found == {line.strip() for line in OPERATIONS.strip().splitlines()}
    names = [line.rpartition(" ")[2] for line in found]
    assert len(names) == len(set(names))


def test_nothing_that_clients_use_is_removed(described):
    """docs/rest.md, "Stability and deprecation", describes how a route is removed."""
    committed = json.loads(openapi_document.COMMITTED.read_text(encoding="utf-8"))
    places = openapi_document.removed(committed, described)
    gone = [place for place in places if not place.startswith("/info/version")]
    assert gone == [], (
        "docs/openapi.json has these and the service no longer does. Deprecate first (docs/rest.md); if nobody can use "
        f"them, run: {openapi_document.COMMAND}"
    )


def test_what_is_removed_is_found():
    old = {"paths": {"/a": {"get": {"parameters": [{"name": "x"}, {"name": "y"}], "description": "Old."}}}}
    new = {"paths": {"/a": {"get": {"parameters": [{"name": "y"}], "description": "New."}}, "/b": {}}}
    assert list(openapi_document.removed(old, new)) == ["/paths//a/get/parameters/x"]
    assert list(openapi_document.removed({"properties": {"title": {}}}, {"properties": {}})) == ["/properties/title"]
    assert list(openapi_document.removed({"type": "string"}, {"type": "integer"})) == [
        "/type: 'string' became 'integer'"
    ]


def test_an_operation_has_one_tag_and_every_tag_is_described(described):
    tags = {tag["name"]: tag["description"] for tag in described["tags"]}
    assert {each["tags"][0] for _, _, each in operations(described)} == set(tags)
    assert all(len(each["tags"]) == 1 for _, _, each in operations(described))


def test_what_asks_the_database_may_find_it_busy(described):
    for method, path, operation in operations(described):
        if path.startswith("/api/"):
            assert "Retry-After" in openapi_document.resolved(described, operation["responses"]["503"])["headers"], (
                method,
                path,
            )


def schemas_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from schemas_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from schemas_in(each)


def test_answers_are_open_for_new_fields_and_bodies_are_not(described):
    answers = [operation["responses"] for _, _, operation in operations(described)]
    for schema in schemas_in(openapi_document.resolved(described, answers)):
        assert schema.get("additionalProperties") is not False, schema
    for method, path, operation in operations(described):
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        if body and method != "WEBHOOK":
            sent = schemas_in(openapi_document.resolved(described, body))
            closed = [each.get("additionalProperties") for each in sent if "properties" in each]
            assert closed, (method, path)
            assert set(closed) == {False}, (method, path)


def examples_in(value: Any, where: str) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Place, schema and example of each example."""
    if isinstance(value, dict):
        if "schema" in value and "example" in value:
            yield where, value["schema"], value["example"]
        if isinstance(value.get("examples"), list):
            for example in value["examples"]:
                yield where, value, example
        for name, each in value.items():
            if name not in ("example", "examples"):
                yield from examples_in(each, f"{where}/{name}")
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from examples_in(each, f"{where}/{number}")


def with_references(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """The schema with those that it refers to. With all of them, compiling each would take seconds in total."""
    found: dict[str, Any] = {}
    unread = [schema]
    while unread:
        for each in schemas_in(unread.pop()):
            name = str(each.get("$ref")).removeprefix("#/components/schemas/")
            if name in schemas and name not in found:
                found[name] = schemas[name]
                unread.append(found[name])
    return {**schema, "components": {"schemas": found}}


def test_every_example_is_one_of_its_schema(described):
    found = list(examples_in(described, ""))
    assert "#/$defs/" not in json.dumps(described)
    for where, schema, example in found:
        if where.endswith("text/event-stream"):
            continue  # see below
        validator = jsonschema_rs.Draft202012Validator(with_references(schema, described["components"]["schemas"]))
        faults = [f"{where} at {fault.instance_path}: {fault.message}" for fault in validator.iter_errors(example)]
        assert faults == []
    # A client must expect null, so an example shows it.
    attempt = described["components"]["schemas"]["AttemptJSON"]["examples"][0]
    assert attempt["rejudged"] is None


def test_a_model_without_an_example_that_holds_is_found(described):
    written = examples.written()
    assert examples.wanting(described, written) == set()
    name, other = list(written)[:2]
    changed = {**written, other: [{"no": "such"}], "Gone": [{}]}
    del changed[name]
    assert examples.wanting(described, changed) == {name, other, "Gone"}


def test_the_schema_of_a_stream_is_that_of_each_event(described):
    responses = described["paths"]["/api/v1/attempts/{attempt_id}/events"]["get"]["responses"]
    stream = responses["200"]["content"]["text/event-stream"]
    validator = jsonschema_rs.Draft202012Validator(stream["schema"])
    events = [
        dict(line.split(": ", 1) for line in each.splitlines()) for each in stream["example"].strip().split("\n\n")
    ]
    assert [event["event"] for event in events] == ["status", "verdict"]
    assert all(validator.is_valid(event) for event in events)
