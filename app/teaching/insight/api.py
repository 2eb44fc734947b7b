"""REST: how students are doing at problems, for instructors."""

from app.accounts.web import Instructor
from app.authoring.schemas import UploadJSON
from app.core.rest.problem_json import problem_responses
from app.core.rest.routing import rest_router
from app.core.services import Provided
from app.problems.catalogue import Catalogue
from app.teaching.insight.misconceptions import Misconceptions
from app.teaching.insight.schemas import (
    ClusterJSON,
    ClusterMembersJSON,
    InsightJSON,
    InsightList,
    MemberJSON,
    NewMisconceptionJSON,
)
from app.teaching.insight.service import Insight

router = rest_router("insight")


@router.get("/insight", summary="How students are doing at each problem, one line each")
async def list_insight(user: Instructor, insight: Provided[Insight]) -> InsightList:
    lines = await insight.of_all()
    return InsightList(problems=lines)


@router.get("/problems/{slug}/insight", summary="How students are doing at one problem, and where they stop")
async def get_insight(
    slug: str, user: Instructor, catalogue: Provided[Catalogue], insight: Provided[Insight]
) -> InsightJSON:
    problem = catalogue.get(slug)
    return InsightJSON.at_problem(
        problem.slug, problem.version, await insight.of_problem(problem.slug, problem.version)
    )


@router.get(
    "/problems/{slug}/insight/clusters/{key}", summary="The attempts of a cluster without a known misconception"
)
async def get_cluster(
    slug: str, key: str, user: Instructor, catalogue: Provided[Catalogue], insight: Provided[Insight]
) -> ClusterMembersJSON:
    problem = catalogue.get(slug)
    cluster, members = await insight.cluster(problem.slug, problem.version, key)
    return ClusterMembersJSON(cluster=ClusterJSON.of(cluster), members=[MemberJSON.of(each) for each in members])


@router.post(
    "/problems/{slug}/insight/misconceptions",
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
