"""REST: how students are doing at problems, for instructors, and for assistants with the right `insight`."""

from typing import Annotated

from fastapi import Query

from app.accounts.web import Grader, Instructor
from app.authoring.schemas import UploadJSON
from app.core.rest.actions import Actions
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.problems.catalogue import Catalogue
from app.teaching.courses.course_in_path import CourseForInsight
from app.teaching.insight.misconceptions import Misconceptions
from app.teaching.insight.pages import ClusterPage
from app.teaching.insight.schemas import (
    ClusterJSON,
    ClusterMembersJSON,
    InsightJSON,
    InsightList,
    MemberJSON,
    NewMisconceptionJSON,
)
from app.teaching.insight.service import Counted, Insight

actions = Actions("insight", ClusterPage)
router = actions.api
Versions = Annotated[Counted, Query(description="Count attempts at all versions, or only at the served one")]


@router.get("/insight", summary="How students are doing at each problem, one line each")
async def list_insight(user: Instructor, insight: Provided[Insight]) -> InsightList:
    lines = await insight.of_all()
    return InsightList(problems=lines)


@router.get("/problems/{slug}/insight", summary="How students are doing at one problem, and where they stop")
async def get_insight(
    slug: str,
    user: Grader,
    course: CourseForInsight,
    catalogue: Provided[Catalogue],
    insight: Provided[Insight],
    versions: Versions = "all",
) -> InsightJSON:
    problem = catalogue.get(slug)
    summary = await insight.of_problem(user, problem.slug, problem.version, versions, course.id if course else None)
    return InsightJSON.at_problem(problem.slug, problem.version, summary)


@router.get(
    "/problems/{slug}/insight/clusters/{key}", summary="The attempts of a cluster without a known misconception"
)
async def get_cluster(
    slug: str,
    key: str,
    user: Grader,
    course: CourseForInsight,
    catalogue: Provided[Catalogue],
    insight: Provided[Insight],
    versions: Versions = "all",
) -> ClusterMembersJSON:
    problem = catalogue.get(slug)
    course_id = course.id if course else None
    cluster, members = await insight.cluster(user, problem.slug, problem.version, key, versions, course_id)
    return ClusterMembersJSON(cluster=ClusterJSON.of(cluster), members=[MemberJSON.of(each) for each in members])


@actions.post(
    "/problems/{slug}/insight/misconceptions",
    then="/authoring/{slug}/versions/{result.version}",
    status_code=201,
    summary="Add an attempt to a draft of the problem, as a rejected submission with a misconception",
    responses=problem_responses(409),
)
async def add_misconception(
    slug: str,
    user: Instructor,
    body: NewMisconceptionJSON,
    catalogue: Provided[Catalogue],
    misconceptions: Provided[Misconceptions],
) -> UploadJSON:
    problem = catalogue.get(slug)
    upload = await misconceptions.add(user, problem.slug, body.attempt, body.text, body.base)
    return UploadJSON.of(upload)
