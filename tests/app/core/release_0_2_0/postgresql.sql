CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.announcements (
    id character varying(32) NOT NULL,
    course_id character varying(32) NOT NULL,
    user_id character varying(32),
    text text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.api_tokens (
    token_hash character varying(64) NOT NULL,
    user_id character varying(32) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    preset boolean NOT NULL,
    id character varying(32) NOT NULL,
    name character varying(100) NOT NULL,
    scopes character varying(100) NOT NULL,
    last_used_at timestamp with time zone,
    expires_at timestamp with time zone
);
CREATE TABLE public.assignment_extensions (
    assignment_id character varying(32) NOT NULL,
    user_id character varying(32) NOT NULL,
    extra_minutes integer NOT NULL,
    extra_attempts integer NOT NULL,
    reason character varying(200) NOT NULL
);
CREATE TABLE public.assignment_problems (
    assignment_id character varying(32) NOT NULL,
    "position" integer NOT NULL,
    problem character varying(64) NOT NULL,
    points integer NOT NULL,
    pool integer
);
CREATE TABLE public.assignment_sections (
    assignment_id character varying(32) NOT NULL,
    section character varying(200) NOT NULL,
    opens_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL
);
CREATE TABLE public.assignments (
    id character varying(32) NOT NULL,
    course_id character varying(32) NOT NULL,
    name character varying(100) NOT NULL,
    opens_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    late_percent integer,
    attempt_limit integer,
    cool_down_minutes integer,
    is_exam boolean DEFAULT false NOT NULL,
    counted character varying(16) DEFAULT 'best'::character varying NOT NULL,
    grace_minutes integer DEFAULT 0 NOT NULL,
    weight integer,
    category character varying(60),
    closes character varying(100),
    closed_for character varying(16),
    duration_minutes integer,
    password_hash character varying(200),
    addresses text
);
CREATE TABLE public.attempts (
    id character varying(32) NOT NULL,
    user_id character varying(32) NOT NULL,
    problem character varying(64) NOT NULL,
    version character varying(64) NOT NULL,
    kind character varying(16) NOT NULL,
    source text NOT NULL,
    status character varying(16) NOT NULL,
    phase character varying(200),
    priority integer NOT NULL,
    tries integer NOT NULL,
    fence_token character varying(32),
    lease_until timestamp with time zone,
    verdict json,
    score integer,
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    efficiency double precision,
    turn_at timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    not_before timestamp with time zone,
    verdict_status character varying(16),
    idempotency_key character varying(255),
    rejudged_at timestamp with time zone,
    score_before integer,
    after_giving_up boolean DEFAULT false NOT NULL,
    verdict_reason character varying(32),
    guest character varying(64),
    faults json,
    own_inputs json,
    gradings json,
    fingerprint json,
    share character varying(80),
    variant character varying(32)
);
CREATE TABLE public.audit_log (
    id character varying(32) NOT NULL,
    at timestamp with time zone NOT NULL,
    user_id character varying(32),
    whom_id character varying(32),
    action character varying(32) NOT NULL,
    detail character varying(200) NOT NULL,
    reason character varying(200) NOT NULL,
    course_id character varying(32)
);
CREATE TABLE public.badge_keys (
    id character varying(32) NOT NULL,
    sealed text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.cell_marks (
    assignment_id character varying(32) NOT NULL,
    problem character varying(64) NOT NULL,
    whom_id character varying(32) NOT NULL,
    kind character varying(16) NOT NULL,
    user_id character varying(32),
    hundredths integer NOT NULL,
    most_hundredths integer,
    reason character varying(200) NOT NULL,
    is_shown boolean NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.comments (
    id character varying(32) NOT NULL,
    user_id character varying(32),
    whom_id character varying(32) NOT NULL,
    attempt_id character varying(32) NOT NULL,
    line integer NOT NULL,
    text text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone,
    resolved_at timestamp with time zone
);
CREATE TABLE public.completions (
    id character varying(32) NOT NULL,
    token_hash character varying(64) NOT NULL,
    user_id character varying(32) NOT NULL,
    track character varying(40) NOT NULL,
    verified json NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.course_categories (
    course_id character varying(32) NOT NULL,
    "position" integer NOT NULL,
    name character varying(60) NOT NULL,
    weight integer NOT NULL,
    drop_lowest integer NOT NULL
);
CREATE TABLE public.course_members (
    course_id character varying(32) NOT NULL,
    user_id character varying(32) NOT NULL,
    role character varying(16) NOT NULL,
    joined_at timestamp with time zone NOT NULL,
    rights character varying(200)
);
CREATE TABLE public.course_problems (
    course_id character varying(32) NOT NULL,
    problem character varying(64) NOT NULL,
    version character varying(64) NOT NULL,
    visible_from timestamp with time zone NOT NULL
);
CREATE TABLE public.course_staff (
    course_id character varying(32) NOT NULL,
    user_id character varying(32) NOT NULL,
    role character varying(16) NOT NULL,
    added_at timestamp with time zone NOT NULL
);
CREATE TABLE public.courses (
    id character varying(32) NOT NULL,
    name character varying(100) NOT NULL,
    time_zone character varying(64) NOT NULL,
    join_code character varying(16) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    archived_at timestamp with time zone
);
CREATE TABLE public.deployment (
    id integer NOT NULL,
    secret character varying(64) NOT NULL,
    code character varying(64),
    judging_secret character varying(64)
);
CREATE TABLE public.drafts (
    user_id character varying(32) NOT NULL,
    problem character varying(64) NOT NULL,
    source text NOT NULL,
    revision integer NOT NULL,
    saved_at timestamp with time zone NOT NULL,
    begun_at timestamp with time zone
);
CREATE TABLE public.exam_starts (
    assignment_id character varying(32) NOT NULL,
    user_id character varying(32) NOT NULL,
    started_at timestamp with time zone NOT NULL
);
CREATE TABLE public.explorations (
    id character varying(32) NOT NULL,
    user_id character varying(32) NOT NULL,
    digest character varying(64) NOT NULL,
    problem character varying(64),
    version character varying(64),
    source text NOT NULL,
    against text,
    status character varying(16) NOT NULL,
    result json,
    tries integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    shared_at timestamp with time zone,
    fence_token character varying(32),
    lease_until timestamp with time zone,
    function json,
    chip character varying(8),
    guest character varying(64),
    phase character varying(100),
    priority integer DEFAULT 0 NOT NULL,
    turn_at timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    share character varying(80),
    variant character varying(32)
);
CREATE TABLE public.fair_shares (
    share character varying(80) NOT NULL,
    user_id character varying(32),
    round integer NOT NULL,
    long_round integer
);
CREATE TABLE public.fault_reports (
    id character varying(32) NOT NULL,
    user_id character varying(32) NOT NULL,
    problem character varying(64) NOT NULL,
    version character varying(64) NOT NULL,
    text text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    done_at timestamp with time zone
);
CREATE TABLE public.give_ups (
    user_id character varying(32) NOT NULL,
    problem character varying(64) NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.identities (
    issuer character varying(255) NOT NULL,
    subject character varying(255) NOT NULL,
    name character varying(200) NOT NULL,
    id character varying(32) NOT NULL,
    user_id character varying(32) NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.interviews (
    id character varying(32) NOT NULL,
    user_id character varying(32) NOT NULL,
    level character varying(16) NOT NULL,
    problems json NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone
);
CREATE TABLE public.invitations (
    token_hash character varying(64) NOT NULL,
    role character varying(16) NOT NULL,
    note character varying(100) NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    id character varying(32) NOT NULL,
    user_id character varying(32) NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.issued_badges (
    id character varying(32) NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.lesson_reads (
    user_id character varying(32) NOT NULL,
    lesson character varying(40) NOT NULL,
    read_at timestamp with time zone NOT NULL
);
CREATE TABLE public.lesson_runs (
    id character varying(32) NOT NULL,
    user_id character varying(32) NOT NULL,
    guest character varying(64),
    lesson character varying(40) NOT NULL,
    program integer NOT NULL,
    source text NOT NULL,
    status character varying(16) NOT NULL,
    result json,
    tries integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    fence_token character varying(32),
    lease_until timestamp with time zone,
    priority integer DEFAULT 0 NOT NULL,
    turn_at timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    share character varying(80),
    function json,
    compiled json
);
CREATE TABLE public.lti_contexts (
    id character varying(32) NOT NULL,
    platform_id character varying(32) NOT NULL,
    context character varying(255) NOT NULL,
    title character varying(100) NOT NULL,
    members_url character varying(1000),
    course_id character varying(32),
    roster_at timestamp with time zone
);
CREATE TABLE public.lti_keys (
    id character varying(32) NOT NULL,
    sealed text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.lti_launches (
    nonce_hash character varying(64) NOT NULL,
    ticket_hash character varying(64),
    browser_hash character varying(64) NOT NULL,
    platform_id character varying(32) NOT NULL,
    message text NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
CREATE TABLE public.lti_links (
    id character varying(32) NOT NULL,
    context_id character varying(32) NOT NULL,
    resource character varying(255) NOT NULL,
    title character varying(100) NOT NULL,
    problem character varying(64),
    assignment_id character varying(32),
    line_item character varying(1000)
);
CREATE TABLE public.lti_platforms (
    id character varying(32) NOT NULL,
    name character varying(100) NOT NULL,
    issuer character varying(200) NOT NULL,
    client_id character varying(200) NOT NULL,
    login_url character varying(1000) NOT NULL,
    token_url character varying(1000) NOT NULL,
    keys_url character varying(1000) NOT NULL,
    deployments text NOT NULL,
    grants_instructor boolean NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.lti_scores (
    id character varying(32) NOT NULL,
    link_id character varying(32) NOT NULL,
    user_id character varying(32) NOT NULL,
    subject character varying(255) NOT NULL,
    tries integer NOT NULL,
    next_try_at timestamp with time zone,
    delivered_at timestamp with time zone,
    answer character varying(200),
    fence_token character varying(32),
    lease_until timestamp with time zone
);
CREATE TABLE public.lti_selections (
    id character varying(32) NOT NULL,
    user_id character varying(32) NOT NULL,
    context_id character varying(32),
    platform_id character varying(32) NOT NULL,
    deployment character varying(255) NOT NULL,
    return_url character varying(1000) NOT NULL,
    data text,
    expires_at timestamp with time zone NOT NULL
);
CREATE TABLE public.packages (
    version character varying(64) NOT NULL,
    slug character varying(64) NOT NULL,
    files json NOT NULL,
    created_at timestamp with time zone NOT NULL,
    known json,
    explained boolean DEFAULT false NOT NULL
);
CREATE TABLE public.proofs (
    id character varying(32) NOT NULL,
    version character varying(64) NOT NULL,
    status character varying(16) NOT NULL,
    findings json NOT NULL,
    total integer NOT NULL,
    tries integer NOT NULL,
    fence_token character varying(32),
    lease_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    priority integer DEFAULT 0 NOT NULL,
    turn_at timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    share character varying(80)
);
CREATE TABLE public.publications (
    id character varying(32) NOT NULL,
    problem character varying(64) NOT NULL,
    version character varying(64) NOT NULL,
    origin character varying(16) NOT NULL,
    user_id character varying(32),
    checked boolean,
    forced boolean NOT NULL,
    published_at timestamp with time zone NOT NULL
);
CREATE TABLE public.published (
    slug character varying(64) NOT NULL,
    version character varying(64) NOT NULL,
    origin character varying(16) NOT NULL,
    published_at timestamp with time zone NOT NULL
);
CREATE TABLE public.questions (
    version character varying(64) NOT NULL,
    drawn json NOT NULL,
    drawn_at timestamp with time zone NOT NULL
);
CREATE TABLE public.rejudged (
    rejudge_id character varying(32) NOT NULL,
    attempt_id character varying(32) NOT NULL,
    trial_id character varying(32),
    status character varying(16) NOT NULL,
    changed boolean NOT NULL,
    old_version character varying(64) NOT NULL,
    old_status character varying(16) NOT NULL,
    old_score integer NOT NULL,
    new_status character varying(16),
    new_reason character varying(32),
    new_score integer
);
CREATE TABLE public.rejudges (
    id character varying(32) NOT NULL,
    problem character varying(64) NOT NULL,
    version character varying(64) NOT NULL,
    status character varying(16) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    applied_at timestamp with time zone,
    selection json,
    never_lower boolean DEFAULT false NOT NULL
);
CREATE TABLE public.rendered_texts (
    digest character varying(64) NOT NULL,
    renderer character varying(64) NOT NULL,
    rendered json NOT NULL,
    rendered_at timestamp with time zone NOT NULL
);
CREATE TABLE public.replaced_drafts (
    id character varying(32) NOT NULL,
    user_id character varying(32) NOT NULL,
    problem character varying(64) NOT NULL,
    source text NOT NULL,
    replaced_at timestamp with time zone NOT NULL
);
CREATE TABLE public.repositories (
    id character varying(32) NOT NULL,
    user_id character varying(32) NOT NULL,
    kind character varying(8) NOT NULL,
    address character varying(500) NOT NULL,
    branch character varying(200) NOT NULL,
    folder character varying(200) NOT NULL,
    username character varying(100) NOT NULL,
    sealed_token text,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.repository_syncs (
    id character varying(32) NOT NULL,
    repository_id character varying(32) NOT NULL,
    cause character varying(8) NOT NULL,
    again boolean NOT NULL,
    commit character varying(64),
    fault character varying(500),
    problems json NOT NULL,
    created_at timestamp with time zone NOT NULL,
    until timestamp with time zone NOT NULL,
    finished_at timestamp with time zone
);
CREATE TABLE public.roster_lines (
    id character varying(32) NOT NULL,
    course_id character varying(32) NOT NULL,
    user_id character varying(32),
    invitation_id character varying(32),
    role character varying(16) NOT NULL,
    name character varying(200) NOT NULL,
    given_name character varying(100) NOT NULL,
    family_name character varying(100) NOT NULL,
    email character varying(200) NOT NULL,
    student_number character varying(100) NOT NULL,
    login character varying(100) NOT NULL,
    external_id character varying(100) NOT NULL,
    section character varying(200) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    site character varying(200),
    fence_token character varying(32),
    lease_until timestamp with time zone,
    tries integer NOT NULL,
    next_try_at timestamp with time zone,
    delivered_at timestamp with time zone,
    answer character varying(200)
);
CREATE TABLE public.score_overrides (
    attempt_id character varying(32) NOT NULL,
    user_id character varying(32),
    whom_id character varying(32) NOT NULL,
    score integer NOT NULL,
    reason character varying(200) NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.sessions (
    token_hash character varying(64) NOT NULL,
    user_id character varying(32) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    id character varying(32) NOT NULL,
    user_agent character varying(300) NOT NULL,
    last_used_at timestamp with time zone,
    authenticated_at timestamp with time zone
);
CREATE TABLE public.shared_answers (
    key character varying(64) NOT NULL,
    files bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.shares (
    token_hash character varying(64) NOT NULL,
    user_id character varying(32) NOT NULL,
    attempt_id character varying(32) NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.sign_in_failures (
    subject_hash character varying(64) NOT NULL,
    failures integer NOT NULL,
    last_at timestamp with time zone NOT NULL,
    blocked_until timestamp with time zone
);
CREATE TABLE public.sign_in_links (
    token_hash character varying(64) NOT NULL,
    user_id character varying(32) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
CREATE TABLE public.sign_up_counts (
    subject_hash character varying(64) NOT NULL,
    tries integer NOT NULL,
    ends_at timestamp with time zone NOT NULL
);
CREATE TABLE public.users (
    id character varying(32) NOT NULL,
    name character varying(200) NOT NULL,
    role character varying(16) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    password_hash character varying(255),
    ranking_name character varying(200),
    in_rankings boolean DEFAULT true NOT NULL,
    deactivated_at timestamp with time zone
);
CREATE TABLE public.webhook_deliveries (
    id character varying(32) NOT NULL,
    webhook_id character varying(32) NOT NULL,
    attempt_id character varying(32) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    tries integer NOT NULL,
    next_try_at timestamp with time zone,
    delivered_at timestamp with time zone,
    answer character varying(200),
    fence_token character varying(32),
    lease_until timestamp with time zone
);
CREATE TABLE public.webhooks (
    id character varying(32) NOT NULL,
    user_id character varying(32) NOT NULL,
    url character varying(2000) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    slow_tries integer DEFAULT 0 NOT NULL,
    paused_until timestamp with time zone
);
CREATE TABLE public.withheld_attempts (
    attempt_id character varying(32) NOT NULL,
    assignment_id character varying(32) NOT NULL,
    user_id character varying(32) NOT NULL,
    problem character varying(64) NOT NULL,
    until timestamp with time zone NOT NULL
);
CREATE TABLE public.workers (
    id character varying(32) NOT NULL,
    name character varying(100) NOT NULL,
    version character varying(32) NOT NULL,
    slots integer NOT NULL,
    can_grade boolean NOT NULL,
    walls json NOT NULL,
    setbacks json NOT NULL,
    warnings json NOT NULL,
    clock_offset_s double precision NOT NULL,
    started_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    code character varying(64)
);
INSERT INTO public.alembic_version VALUES ('0057_0045');
INSERT INTO public.announcements VALUES ('0000000000000000000000000000000e', '00000000000000000000000000000002', '0000000000000000000000000000000c', 'announcements.text é', '2026-11-30 12:00:00+00');
INSERT INTO public.api_tokens VALUES ('api_tokens.token_hash é', '0000000000000000000000000000000c', '2026-11-30 12:00:00+00', false, 'api_tokens.id é', 'api_tokens.name é', 'api_tokens.scopes é', '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00');
INSERT INTO public.assignment_extensions VALUES ('00000000000000000000000000000010', '0000000000000000000000000000000c', 1, 1, 'assignment_extensions.reason é');
INSERT INTO public.assignment_problems VALUES ('00000000000000000000000000000010', 1, 'assignment_problems.problem é', 1, 1);
INSERT INTO public.assignment_sections VALUES ('00000000000000000000000000000010', 'assignment_sections.section é', '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00');
INSERT INTO public.assignments VALUES ('00000000000000000000000000000010', '00000000000000000000000000000002', 'assignments.name é', '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00', 1, 1, 1, false, 'assignments.coun', 1, 1, 'assignments.category é', 'assignments.closes é', 'assignments.clos', 1, 'assignments.password_hash é', 'assignments.addresses é');
INSERT INTO public.attempts VALUES ('00000000000000000000000000000011', '0000000000000000000000000000000c', 'add_one', 'attempts.version é', 'attempt', 'attempts.source é', 'finished', 'attempts.phase é', 1, 1, 'attempts.fence_token é', '2026-11-30 12:00:00+00', '{"schema_version": 2, "problem": "golden", "version": "v", "status": "rejected", "reason": "wrong_structure", "score": 90, "checks": [{"id": "values", "title": "Values", "passed": true, "points": 80, "max_points": 80, "trust": "verified", "message": "All 3 cases agree with the reference.", "evidence": [{"kind": "tolerances", "by_dtype": {"float32": {"rtol": 1e-05, "atol": 1e-06}}}]}, {"id": "optimizer", "title": "The optimizer is built as required", "passed": true, "points": 10, "max_points": 10, "trust": "observed", "message": "Every case builds nnx.Optimizer(model, optax.sgd(lr), wrt=nnx.Param)."}, {"id": "update", "title": "The update is applied once, with the right gradients", "passed": false, "points": 0, "max_points": 10, "trust": "observed", "message": "public-1: optimizer.update was never called; expected one call.", "headlines": ["optimizer.update was never called; expected one call."]}], "cases": [{"id": "public-1", "public": true, "passed": true, "message": "Agrees with the reference."}, {"id": "public-2", "public": true, "passed": true, "message": "Agrees with the reference."}, {"id": "hidden-1", "public": false, "passed": true, "message": "Agrees with the reference."}], "stdout": "printed", "walls": ["seccomp"]}', 0, '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00', NULL, '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00', 'rejected', 'attempts.idempotency_key é', '2026-11-30 12:00:00+00', 1, false, 'wrong_structure', 'attempts.guest é', '{}', '{}', '[]', '{}', 'attempts.share é', 'attempts.variant é');
INSERT INTO public.audit_log VALUES ('00000000000000000000000000000012', '2026-11-30 12:00:00+00', '0000000000000000000000000000000c', '0000000000000000000000000000000c', 'audit_log.action é', 'audit_log.detail é', 'audit_log.reason é', 'audit_log.course_id é');
INSERT INTO public.badge_keys VALUES ('00000000000000000000000000000001', 'badge_keys.sealed é', '2026-11-30 12:00:00+00');
INSERT INTO public.cell_marks VALUES ('00000000000000000000000000000010', 'cell_marks.problem é', '0000000000000000000000000000000c', 'cell_marks.kind ', '0000000000000000000000000000000c', 1, 1, 'cell_marks.reason é', false, '2026-11-30 12:00:00+00');
INSERT INTO public.comments VALUES ('00000000000000000000000000000032', '0000000000000000000000000000000c', '0000000000000000000000000000000c', '00000000000000000000000000000011', 1, 'comments.text é', '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00');
INSERT INTO public.completions VALUES ('00000000000000000000000000000013', 'completions.token_hash é', '0000000000000000000000000000000c', 'completions.track é', '{}', '2026-11-30 12:00:00+00');
INSERT INTO public.course_categories VALUES ('00000000000000000000000000000002', 1, 'course_categories.name é', 1, 1);
INSERT INTO public.course_members VALUES ('00000000000000000000000000000002', '0000000000000000000000000000000c', 'course_members.r', '2026-11-30 12:00:00+00', 'course_members.rights é');
INSERT INTO public.course_problems VALUES ('00000000000000000000000000000002', 'course_problems.problem é', 'packages.version é', '2026-11-30 12:00:00+00');
INSERT INTO public.course_staff VALUES ('00000000000000000000000000000002', '0000000000000000000000000000000c', 'course_staff.rol', '2026-11-30 12:00:00+00');
INSERT INTO public.courses VALUES ('00000000000000000000000000000002', 'courses.name é', 'courses.time_zone é', 'courses.join_cod', '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00');
INSERT INTO public.deployment VALUES (1, 'deployment.secret é', 'deployment.code é', 'deployment.judging_secret é');
INSERT INTO public.drafts VALUES ('0000000000000000000000000000000c', 'drafts.problem é', 'drafts.source é', 1, '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00');
INSERT INTO public.exam_starts VALUES ('00000000000000000000000000000010', '0000000000000000000000000000000c', '2026-11-30 12:00:00+00');
INSERT INTO public.explorations VALUES ('00000000000000000000000000000019', '0000000000000000000000000000000c', 'explorations.digest é', 'explorations.problem é', 'packages.version é', 'explorations.source é', 'explorations.against é', 'explorations.sta', '{}', 1, '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00', 'explorations.fence_token é', '2026-11-30 12:00:00+00', '{}', 'explorat', 'explorations.guest é', 'explorations.phase é', 1, '2026-11-30 12:00:00+00', 'explorations.share é', 'explorations.variant é');
INSERT INTO public.fair_shares VALUES ('fair_shares.share é', '0000000000000000000000000000000c', 1, 1);
INSERT INTO public.fault_reports VALUES ('0000000000000000000000000000001b', '0000000000000000000000000000000c', 'fault_reports.problem é', 'fault_reports.version é', 'fault_reports.text é', '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00');
INSERT INTO public.give_ups VALUES ('0000000000000000000000000000000c', 'give_ups.problem é', '2026-11-30 12:00:00+00');
INSERT INTO public.identities VALUES ('identities.issuer é', 'identities.subject é', 'identities.name é', 'identities.id é', '0000000000000000000000000000000c', '2026-11-30 12:00:00+00');
INSERT INTO public.interviews VALUES ('0000000000000000000000000000001e', '0000000000000000000000000000000c', 'interviews.level', '[]', '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00');
INSERT INTO public.invitations VALUES ('invitations.token_hash é', 'invitations.role', 'invitations.note é', '2026-11-30 12:00:00+00', 'invitations.id é', '0000000000000000000000000000000c', '2026-11-30 12:00:00+00');
INSERT INTO public.issued_badges VALUES ('00000000000000000000000000000004', '2026-11-30 12:00:00+00');
INSERT INTO public.lesson_reads VALUES ('0000000000000000000000000000000c', 'lesson_reads.lesson é', '2026-11-30 12:00:00+00');
INSERT INTO public.lesson_runs VALUES ('00000000000000000000000000000021', '0000000000000000000000000000000c', 'lesson_runs.guest é', 'lesson_runs.lesson é', 1, 'lesson_runs.source é', 'lesson_runs.stat', '{}', 1, '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00', 'lesson_runs.fence_token é', '2026-11-30 12:00:00+00', 1, '2026-11-30 12:00:00+00', 'lesson_runs.share é', '{}', '{}');
INSERT INTO public.lti_contexts VALUES ('00000000000000000000000000000022', '00000000000000000000000000000006', 'lti_contexts.context é', 'lti_contexts.title é', 'lti_contexts.members_url é', '00000000000000000000000000000002', '2026-11-30 12:00:00+00');
INSERT INTO public.lti_keys VALUES ('00000000000000000000000000000005', 'lti_keys.sealed é', '2026-11-30 12:00:00+00');
INSERT INTO public.lti_launches VALUES ('lti_launches.nonce_hash é', 'lti_launches.ticket_hash é', 'lti_launches.browser_hash é', '00000000000000000000000000000006', 'lti_launches.message é', '2026-11-30 12:00:00+00');
INSERT INTO public.lti_links VALUES ('00000000000000000000000000000034', '00000000000000000000000000000022', 'lti_links.resource é', 'lti_links.title é', 'lti_links.problem é', '00000000000000000000000000000010', 'lti_links.line_item é');
INSERT INTO public.lti_platforms VALUES ('00000000000000000000000000000006', 'lti_platforms.name é', 'lti_platforms.issuer é', 'lti_platforms.client_id é', 'lti_platforms.login_url é', 'lti_platforms.token_url é', 'lti_platforms.keys_url é', 'lti_platforms.deployments é', false, '2026-11-30 12:00:00+00');
INSERT INTO public.lti_scores VALUES ('0000000000000000000000000000003d', '00000000000000000000000000000034', '0000000000000000000000000000000c', 'lti_scores.subject é', 1, '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00', 'lti_scores.answer é', 'lti_scores.fence_token é', '2026-11-30 12:00:00+00');
INSERT INTO public.lti_selections VALUES ('00000000000000000000000000000035', '0000000000000000000000000000000c', '00000000000000000000000000000022', '00000000000000000000000000000006', 'lti_selections.deployment é', 'lti_selections.return_url é', 'lti_selections.data é', '2026-11-30 12:00:00+00');
INSERT INTO public.packages VALUES ('packages.version é', 'add_one', '{"problem.toml": "schema_version = 1\n"}', '2026-11-30 12:00:00+00', '{}', false);
INSERT INTO public.proofs VALUES ('00000000000000000000000000000024', 'packages.version é', 'proofs.status é', '[]', 1, 1, 'proofs.fence_token é', '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00', 1, '2026-11-30 12:00:00+00', 'proofs.share é');
INSERT INTO public.publications VALUES ('00000000000000000000000000000025', 'publications.problem é', 'packages.version é', 'publications.ori', '0000000000000000000000000000000c', false, false, '2026-11-30 12:00:00+00');
INSERT INTO public.published VALUES ('published.slug é', 'packages.version é', 'published.origin', '2026-11-30 12:00:00+00');
INSERT INTO public.questions VALUES ('packages.version é', '{}', '2026-11-30 12:00:00+00');
INSERT INTO public.rejudged VALUES ('00000000000000000000000000000028', '00000000000000000000000000000011', '00000000000000000000000000000011', 'rejudged.status ', false, 'rejudged.old_version é', 'rejudged.old_sta', 1, 'rejudged.new_sta', 'rejudged.new_reason é', 1);
INSERT INTO public.rejudges VALUES ('00000000000000000000000000000028', 'rejudges.problem é', 'packages.version é', 'rejudges.status ', '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00', '{}', false);
INSERT INTO public.rendered_texts VALUES ('rendered_texts.digest é', 'rendered_texts.renderer é', '{}', '2026-11-30 12:00:00+00');
INSERT INTO public.replaced_drafts VALUES ('00000000000000000000000000000029', '0000000000000000000000000000000c', 'replaced_drafts.problem é', 'replaced_drafts.source é', '2026-11-30 12:00:00+00');
INSERT INTO public.repositories VALUES ('0000000000000000000000000000002a', '0000000000000000000000000000000c', 'reposito', 'repositories.address é', 'repositories.branch é', 'repositories.folder é', 'repositories.username é', 'repositories.sealed_token é', '2026-11-30 12:00:00+00');
INSERT INTO public.repository_syncs VALUES ('00000000000000000000000000000037', '0000000000000000000000000000002a', 'reposito', false, 'repository_syncs.commit é', 'repository_syncs.fault é', '[]', '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00');
INSERT INTO public.roster_lines VALUES ('00000000000000000000000000000038', '00000000000000000000000000000002', '0000000000000000000000000000000c', 'invitations.id é', 'roster_lines.rol', 'roster_lines.name é', 'roster_lines.given_name é', 'roster_lines.family_name é', 'roster_lines.email é', 'roster_lines.student_number é', 'roster_lines.login é', 'roster_lines.external_id é', 'roster_lines.section é', '2026-11-30 12:00:00+00', 'roster_lines.site é', 'roster_lines.fence_token é', '2026-11-30 12:00:00+00', 1, '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00', 'roster_lines.answer é');
INSERT INTO public.score_overrides VALUES ('00000000000000000000000000000011', '0000000000000000000000000000000c', '0000000000000000000000000000000c', 1, 'score_overrides.reason é', '2026-11-30 12:00:00+00');
INSERT INTO public.sessions VALUES ('sessions.token_hash é', '0000000000000000000000000000000c', '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00', 'sessions.id é', 'sessions.user_agent é', '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00');
INSERT INTO public.shared_answers VALUES ('shared_answers.key é', '\x0001', '2026-11-30 12:00:00+00');
INSERT INTO public.shares VALUES ('shares.token_hash é', '0000000000000000000000000000000c', '00000000000000000000000000000011', '2026-11-30 12:00:00+00');
INSERT INTO public.sign_in_failures VALUES ('sign_in_failures.subject_hash é', 1, '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00');
INSERT INTO public.sign_in_links VALUES ('sign_in_links.token_hash é', '0000000000000000000000000000000c', '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00');
INSERT INTO public.sign_up_counts VALUES ('sign_up_counts.subject_hash é', 1, '2026-11-30 12:00:00+00');
INSERT INTO public.users VALUES ('0000000000000000000000000000000c', 'users.name é', 'owner', '2026-11-30 12:00:00+00', 'users.password_hash é', 'users.ranking_name é', false, '2026-11-30 12:00:00+00');
INSERT INTO public.webhook_deliveries VALUES ('0000000000000000000000000000003b', '0000000000000000000000000000002d', '00000000000000000000000000000011', '2026-11-30 12:00:00+00', 1, '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00', 'webhook_deliveries.answer é', 'webhook_deliveries.fence_token é', '2026-11-30 12:00:00+00');
INSERT INTO public.webhooks VALUES ('0000000000000000000000000000002d', '0000000000000000000000000000000c', 'webhooks.url é', '2026-11-30 12:00:00+00', 1, '2026-11-30 12:00:00+00');
INSERT INTO public.withheld_attempts VALUES ('00000000000000000000000000000011', '0000000000000000000000000000003c', '0000000000000000000000000000000c', 'withheld_attempts.problem é', '2026-11-30 12:00:00+00');
INSERT INTO public.workers VALUES ('0000000000000000000000000000000d', 'workers.name é', 'workers.version é', 1, false, '[]', '[]', '[]', 0.5, '2026-11-30 12:00:00+00', '2026-11-30 12:00:00+00', 'workers.code é');
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.announcements
    ADD CONSTRAINT pk_announcements PRIMARY KEY (id);
ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT pk_api_tokens PRIMARY KEY (token_hash);
ALTER TABLE ONLY public.assignment_extensions
    ADD CONSTRAINT pk_assignment_extensions PRIMARY KEY (assignment_id, user_id);
ALTER TABLE ONLY public.assignment_problems
    ADD CONSTRAINT pk_assignment_problems PRIMARY KEY (assignment_id, "position");
ALTER TABLE ONLY public.assignment_sections
    ADD CONSTRAINT pk_assignment_sections PRIMARY KEY (assignment_id, section);
ALTER TABLE ONLY public.assignments
    ADD CONSTRAINT pk_assignments PRIMARY KEY (id);
ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT pk_attempts PRIMARY KEY (id);
ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT pk_audit_log PRIMARY KEY (id);
ALTER TABLE ONLY public.badge_keys
    ADD CONSTRAINT pk_badge_keys PRIMARY KEY (id);
ALTER TABLE ONLY public.cell_marks
    ADD CONSTRAINT pk_cell_marks PRIMARY KEY (assignment_id, problem, whom_id, kind);
ALTER TABLE ONLY public.comments
    ADD CONSTRAINT pk_comments PRIMARY KEY (id);
ALTER TABLE ONLY public.completions
    ADD CONSTRAINT pk_completions PRIMARY KEY (id);
ALTER TABLE ONLY public.course_categories
    ADD CONSTRAINT pk_course_categories PRIMARY KEY (course_id, "position");
ALTER TABLE ONLY public.course_members
    ADD CONSTRAINT pk_course_members PRIMARY KEY (course_id, user_id);
ALTER TABLE ONLY public.course_problems
    ADD CONSTRAINT pk_course_problems PRIMARY KEY (course_id, problem);
ALTER TABLE ONLY public.course_staff
    ADD CONSTRAINT pk_course_staff PRIMARY KEY (course_id, user_id);
ALTER TABLE ONLY public.courses
    ADD CONSTRAINT pk_courses PRIMARY KEY (id);
ALTER TABLE ONLY public.deployment
    ADD CONSTRAINT pk_deployment PRIMARY KEY (id);
ALTER TABLE ONLY public.drafts
    ADD CONSTRAINT pk_drafts PRIMARY KEY (user_id, problem);
ALTER TABLE ONLY public.exam_starts
    ADD CONSTRAINT pk_exam_starts PRIMARY KEY (assignment_id, user_id);
ALTER TABLE ONLY public.explorations
    ADD CONSTRAINT pk_explorations PRIMARY KEY (id);
ALTER TABLE ONLY public.fair_shares
    ADD CONSTRAINT pk_fair_shares PRIMARY KEY (share);
ALTER TABLE ONLY public.fault_reports
    ADD CONSTRAINT pk_fault_reports PRIMARY KEY (id);
ALTER TABLE ONLY public.give_ups
    ADD CONSTRAINT pk_give_ups PRIMARY KEY (user_id, problem);
ALTER TABLE ONLY public.identities
    ADD CONSTRAINT pk_identities PRIMARY KEY (issuer, subject);
ALTER TABLE ONLY public.interviews
    ADD CONSTRAINT pk_interviews PRIMARY KEY (id);
ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT pk_invitations PRIMARY KEY (token_hash);
ALTER TABLE ONLY public.issued_badges
    ADD CONSTRAINT pk_issued_badges PRIMARY KEY (id);
ALTER TABLE ONLY public.lesson_reads
    ADD CONSTRAINT pk_lesson_reads PRIMARY KEY (user_id, lesson);
ALTER TABLE ONLY public.lesson_runs
    ADD CONSTRAINT pk_lesson_runs PRIMARY KEY (id);
ALTER TABLE ONLY public.lti_contexts
    ADD CONSTRAINT pk_lti_contexts PRIMARY KEY (id);
ALTER TABLE ONLY public.lti_keys
    ADD CONSTRAINT pk_lti_keys PRIMARY KEY (id);
ALTER TABLE ONLY public.lti_launches
    ADD CONSTRAINT pk_lti_launches PRIMARY KEY (nonce_hash);
ALTER TABLE ONLY public.lti_links
    ADD CONSTRAINT pk_lti_links PRIMARY KEY (id);
ALTER TABLE ONLY public.lti_platforms
    ADD CONSTRAINT pk_lti_platforms PRIMARY KEY (id);
ALTER TABLE ONLY public.lti_scores
    ADD CONSTRAINT pk_lti_scores PRIMARY KEY (id);
ALTER TABLE ONLY public.lti_selections
    ADD CONSTRAINT pk_lti_selections PRIMARY KEY (id);
ALTER TABLE ONLY public.packages
    ADD CONSTRAINT pk_packages PRIMARY KEY (version);
ALTER TABLE ONLY public.proofs
    ADD CONSTRAINT pk_proofs PRIMARY KEY (id);
ALTER TABLE ONLY public.publications
    ADD CONSTRAINT pk_publications PRIMARY KEY (id);
ALTER TABLE ONLY public.published
    ADD CONSTRAINT pk_published PRIMARY KEY (slug);
ALTER TABLE ONLY public.questions
    ADD CONSTRAINT pk_questions PRIMARY KEY (version);
ALTER TABLE ONLY public.rejudged
    ADD CONSTRAINT pk_rejudged PRIMARY KEY (rejudge_id, attempt_id);
ALTER TABLE ONLY public.rejudges
    ADD CONSTRAINT pk_rejudges PRIMARY KEY (id);
ALTER TABLE ONLY public.rendered_texts
    ADD CONSTRAINT pk_rendered_texts PRIMARY KEY (digest);
ALTER TABLE ONLY public.replaced_drafts
    ADD CONSTRAINT pk_replaced_drafts PRIMARY KEY (id);
ALTER TABLE ONLY public.repositories
    ADD CONSTRAINT pk_repositories PRIMARY KEY (id);
ALTER TABLE ONLY public.repository_syncs
    ADD CONSTRAINT pk_repository_syncs PRIMARY KEY (id);
ALTER TABLE ONLY public.roster_lines
    ADD CONSTRAINT pk_roster_lines PRIMARY KEY (id);
ALTER TABLE ONLY public.score_overrides
    ADD CONSTRAINT pk_score_overrides PRIMARY KEY (attempt_id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT pk_sessions PRIMARY KEY (token_hash);
ALTER TABLE ONLY public.shared_answers
    ADD CONSTRAINT pk_shared_answers PRIMARY KEY (key);
ALTER TABLE ONLY public.shares
    ADD CONSTRAINT pk_shares PRIMARY KEY (token_hash);
ALTER TABLE ONLY public.sign_in_failures
    ADD CONSTRAINT pk_sign_in_failures PRIMARY KEY (subject_hash);
ALTER TABLE ONLY public.sign_in_links
    ADD CONSTRAINT pk_sign_in_links PRIMARY KEY (token_hash);
ALTER TABLE ONLY public.sign_up_counts
    ADD CONSTRAINT pk_sign_up_counts PRIMARY KEY (subject_hash);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT pk_users PRIMARY KEY (id);
ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT pk_webhook_deliveries PRIMARY KEY (id);
ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT pk_webhooks PRIMARY KEY (id);
ALTER TABLE ONLY public.withheld_attempts
    ADD CONSTRAINT pk_withheld_attempts PRIMARY KEY (attempt_id, assignment_id);
ALTER TABLE ONLY public.workers
    ADD CONSTRAINT pk_workers PRIMARY KEY (id);
ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT uq_api_tokens_id UNIQUE (id);
ALTER TABLE ONLY public.completions
    ADD CONSTRAINT uq_completions_token_hash UNIQUE (token_hash);
ALTER TABLE ONLY public.completions
    ADD CONSTRAINT uq_completions_user_id_track UNIQUE (user_id, track);
ALTER TABLE ONLY public.courses
    ADD CONSTRAINT uq_courses_join_code UNIQUE (join_code);
ALTER TABLE ONLY public.identities
    ADD CONSTRAINT uq_identities_id UNIQUE (id);
ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT uq_invitations_id UNIQUE (id);
ALTER TABLE ONLY public.lti_contexts
    ADD CONSTRAINT uq_lti_contexts_platform_id_context UNIQUE (platform_id, context);
ALTER TABLE ONLY public.lti_launches
    ADD CONSTRAINT uq_lti_launches_ticket_hash UNIQUE (ticket_hash);
ALTER TABLE ONLY public.lti_links
    ADD CONSTRAINT uq_lti_links_context_id_resource UNIQUE (context_id, resource);
ALTER TABLE ONLY public.lti_platforms
    ADD CONSTRAINT uq_lti_platforms_issuer_client_id UNIQUE (issuer, client_id);
ALTER TABLE ONLY public.lti_scores
    ADD CONSTRAINT uq_lti_scores_link_id_subject UNIQUE (link_id, subject);
ALTER TABLE ONLY public.roster_lines
    ADD CONSTRAINT uq_roster_lines_course_id_user_id UNIQUE (course_id, user_id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT uq_sessions_id UNIQUE (id);
ALTER TABLE ONLY public.shares
    ADD CONSTRAINT uq_shares_attempt_id UNIQUE (attempt_id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT uq_users_name UNIQUE (name);
CREATE INDEX ix_announcements_course_id ON public.announcements USING btree (course_id);
CREATE INDEX ix_announcements_user_id ON public.announcements USING btree (user_id);
CREATE INDEX ix_api_tokens_user_id ON public.api_tokens USING btree (user_id);
CREATE INDEX ix_assignment_extensions_user_id ON public.assignment_extensions USING btree (user_id);
CREATE INDEX ix_assignments_course_id ON public.assignments USING btree (course_id);
CREATE INDEX ix_attempts_finished_at ON public.attempts USING btree (finished_at);
CREATE INDEX ix_attempts_graded ON public.attempts USING btree (user_id, problem, created_at, score) WHERE (score IS NOT NULL);
CREATE INDEX ix_attempts_judged ON public.attempts USING btree (problem, version) WHERE (score IS NOT NULL);
CREATE INDEX ix_attempts_problem_user_id_created_at ON public.attempts USING btree (problem, user_id, created_at);
CREATE INDEX ix_attempts_ranked ON public.attempts USING btree (problem, user_id, efficiency, created_at) WHERE (efficiency IS NOT NULL);
CREATE INDEX ix_attempts_scored ON public.attempts USING btree (user_id, problem, score, verdict_status) WHERE (score IS NOT NULL);
CREATE INDEX ix_attempts_status_priority_turn_at_id ON public.attempts USING btree (status, priority, turn_at, id);
CREATE INDEX ix_attempts_unexplained ON public.attempts USING btree (problem, id) WHERE (fingerprint IS NOT NULL);
CREATE INDEX ix_attempts_user_id_created_at_id ON public.attempts USING btree (user_id, created_at, id);
CREATE UNIQUE INDEX ix_attempts_user_id_idempotency_key ON public.attempts USING btree (user_id, idempotency_key);
CREATE INDEX ix_attempts_user_id_problem_created_at_id ON public.attempts USING btree (user_id, problem, created_at, id);
CREATE INDEX ix_attempts_waiting ON public.attempts USING btree (share, priority) WHERE status IN ('queued', 'running');
CREATE INDEX ix_audit_log_at_id ON public.audit_log USING btree (at, id);
CREATE INDEX ix_audit_log_user_id ON public.audit_log USING btree (user_id);
CREATE INDEX ix_audit_log_whom_id ON public.audit_log USING btree (whom_id);
CREATE INDEX ix_cell_marks_user_id ON public.cell_marks USING btree (user_id);
CREATE INDEX ix_cell_marks_whom_id ON public.cell_marks USING btree (whom_id);
CREATE INDEX ix_comments_attempt_id_line ON public.comments USING btree (attempt_id, line);
CREATE INDEX ix_comments_user_id ON public.comments USING btree (user_id);
CREATE INDEX ix_comments_whom_id ON public.comments USING btree (whom_id);
CREATE INDEX ix_course_members_user_id ON public.course_members USING btree (user_id);
CREATE INDEX ix_course_staff_user_id ON public.course_staff USING btree (user_id);
CREATE INDEX ix_exam_starts_user_id ON public.exam_starts USING btree (user_id);
CREATE INDEX ix_explorations_digest ON public.explorations USING btree (digest);
CREATE INDEX ix_explorations_status_priority_turn_at_id ON public.explorations USING btree (status, priority, turn_at, id);
CREATE INDEX ix_explorations_user_id_created_at ON public.explorations USING btree (user_id, created_at);
CREATE INDEX ix_explorations_waiting ON public.explorations USING btree (share, priority) WHERE status IN ('queued', 'running');
CREATE INDEX ix_fair_shares_long_round ON public.fair_shares USING btree (long_round);
CREATE INDEX ix_fair_shares_round ON public.fair_shares USING btree (round);
CREATE INDEX ix_fair_shares_user_id ON public.fair_shares USING btree (user_id);
CREATE INDEX ix_fault_reports_user_id ON public.fault_reports USING btree (user_id);
CREATE INDEX ix_identities_user_id ON public.identities USING btree (user_id);
CREATE INDEX ix_interviews_user_id_created_at_id ON public.interviews USING btree (user_id, created_at, id);
CREATE INDEX ix_invitations_user_id ON public.invitations USING btree (user_id);
CREATE INDEX ix_lesson_runs_status_priority_turn_at_id ON public.lesson_runs USING btree (status, priority, turn_at, id);
CREATE INDEX ix_lesson_runs_user_id_lesson ON public.lesson_runs USING btree (user_id, lesson);
CREATE INDEX ix_lesson_runs_waiting ON public.lesson_runs USING btree (share, priority) WHERE status IN ('queued', 'running');
CREATE INDEX ix_lti_contexts_course_id ON public.lti_contexts USING btree (course_id);
CREATE INDEX ix_lti_launches_expires_at ON public.lti_launches USING btree (expires_at);
CREATE INDEX ix_lti_links_assignment_id ON public.lti_links USING btree (assignment_id);
CREATE INDEX ix_lti_links_problem ON public.lti_links USING btree (problem);
CREATE INDEX ix_lti_scores_next_try_at ON public.lti_scores USING btree (next_try_at);
CREATE INDEX ix_lti_scores_user_id ON public.lti_scores USING btree (user_id);
CREATE INDEX ix_lti_selections_user_id ON public.lti_selections USING btree (user_id);
CREATE INDEX ix_packages_slug_created_at_version ON public.packages USING btree (slug, created_at, version);
CREATE INDEX ix_proofs_status_priority_turn_at_id ON public.proofs USING btree (status, priority, turn_at, id);
CREATE INDEX ix_proofs_version_created_at ON public.proofs USING btree (version, created_at);
CREATE INDEX ix_proofs_waiting ON public.proofs USING btree (share, priority) WHERE status IN ('queued', 'running');
CREATE INDEX ix_publications_problem_published_at_id ON public.publications USING btree (problem, published_at, id);
CREATE INDEX ix_publications_user_id ON public.publications USING btree (user_id);
CREATE INDEX ix_rejudged_attempt_id ON public.rejudged USING btree (attempt_id);
CREATE INDEX ix_rejudged_rejudge_id_changed ON public.rejudged USING btree (rejudge_id, changed, attempt_id);
CREATE INDEX ix_rejudged_rejudge_id_status ON public.rejudged USING btree (rejudge_id, status, attempt_id);
CREATE INDEX ix_rejudged_trial_id ON public.rejudged USING btree (trial_id);
CREATE INDEX ix_rejudges_problem_created_at_id ON public.rejudges USING btree (problem, created_at, id);
CREATE INDEX ix_rejudges_problem_status ON public.rejudges USING btree (problem, status);
CREATE INDEX ix_rejudges_status ON public.rejudges USING btree (status);
CREATE INDEX ix_rendered_texts_renderer ON public.rendered_texts USING btree (renderer);
CREATE INDEX ix_replaced_drafts_user_id_replaced_at ON public.replaced_drafts USING btree (user_id, replaced_at);
CREATE INDEX ix_repositories_user_id ON public.repositories USING btree (user_id);
CREATE INDEX ix_repository_syncs_repository_id_created_at ON public.repository_syncs USING btree (repository_id, created_at);
CREATE INDEX ix_roster_lines_email ON public.roster_lines USING btree (email);
CREATE INDEX ix_roster_lines_invitation_id ON public.roster_lines USING btree (invitation_id);
CREATE INDEX ix_roster_lines_next_try_at ON public.roster_lines USING btree (next_try_at);
CREATE INDEX ix_roster_lines_student_number ON public.roster_lines USING btree (student_number);
CREATE INDEX ix_roster_lines_user_id ON public.roster_lines USING btree (user_id);
CREATE INDEX ix_score_overrides_user_id ON public.score_overrides USING btree (user_id);
CREATE INDEX ix_score_overrides_whom_id ON public.score_overrides USING btree (whom_id);
CREATE INDEX ix_sessions_user_id ON public.sessions USING btree (user_id);
CREATE INDEX ix_shares_user_id ON public.shares USING btree (user_id);
CREATE INDEX ix_sign_in_failures_last_at ON public.sign_in_failures USING btree (last_at);
CREATE INDEX ix_sign_in_links_user_id ON public.sign_in_links USING btree (user_id);
CREATE INDEX ix_sign_up_counts_ends_at ON public.sign_up_counts USING btree (ends_at);
CREATE UNIQUE INDEX ix_users_ranking_name ON public.users USING btree (ranking_name);
CREATE INDEX ix_webhook_deliveries_attempt_id ON public.webhook_deliveries USING btree (attempt_id);
CREATE INDEX ix_webhook_deliveries_next_try_at ON public.webhook_deliveries USING btree (next_try_at);
CREATE INDEX ix_webhook_deliveries_webhook_id_created_at_id ON public.webhook_deliveries USING btree (webhook_id, created_at, id);
CREATE INDEX ix_webhooks_user_id ON public.webhooks USING btree (user_id);
CREATE INDEX ix_withheld_attempts_assignment_id ON public.withheld_attempts USING btree (assignment_id);
CREATE INDEX ix_withheld_attempts_problem ON public.withheld_attempts USING btree (problem);
CREATE INDEX ix_withheld_attempts_until ON public.withheld_attempts USING btree (until);
CREATE INDEX ix_withheld_attempts_user_id ON public.withheld_attempts USING btree (user_id);
ALTER TABLE ONLY public.announcements
    ADD CONSTRAINT fk_announcements_course_id FOREIGN KEY (course_id) REFERENCES public.courses(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.announcements
    ADD CONSTRAINT fk_announcements_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT fk_api_tokens_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.assignment_extensions
    ADD CONSTRAINT fk_assignment_extensions_assignment_id FOREIGN KEY (assignment_id) REFERENCES public.assignments(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.assignment_extensions
    ADD CONSTRAINT fk_assignment_extensions_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.assignment_problems
    ADD CONSTRAINT fk_assignment_problems_assignment_id FOREIGN KEY (assignment_id) REFERENCES public.assignments(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.assignment_sections
    ADD CONSTRAINT fk_assignment_sections_assignment_id FOREIGN KEY (assignment_id) REFERENCES public.assignments(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.assignments
    ADD CONSTRAINT fk_assignments_course_id FOREIGN KEY (course_id) REFERENCES public.courses(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT fk_attempts_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT fk_audit_log_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT fk_audit_log_whom_id FOREIGN KEY (whom_id) REFERENCES public.users(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.cell_marks
    ADD CONSTRAINT fk_cell_marks_assignment_id FOREIGN KEY (assignment_id) REFERENCES public.assignments(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.cell_marks
    ADD CONSTRAINT fk_cell_marks_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.cell_marks
    ADD CONSTRAINT fk_cell_marks_whom_id FOREIGN KEY (whom_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.comments
    ADD CONSTRAINT fk_comments_attempt_id FOREIGN KEY (attempt_id) REFERENCES public.attempts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.comments
    ADD CONSTRAINT fk_comments_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.comments
    ADD CONSTRAINT fk_comments_whom_id FOREIGN KEY (whom_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.completions
    ADD CONSTRAINT fk_completions_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.course_categories
    ADD CONSTRAINT fk_course_categories_course_id FOREIGN KEY (course_id) REFERENCES public.courses(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.course_members
    ADD CONSTRAINT fk_course_members_course_id FOREIGN KEY (course_id) REFERENCES public.courses(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.course_members
    ADD CONSTRAINT fk_course_members_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.course_problems
    ADD CONSTRAINT fk_course_problems_course_id FOREIGN KEY (course_id) REFERENCES public.courses(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.course_problems
    ADD CONSTRAINT fk_course_problems_version FOREIGN KEY (version) REFERENCES public.packages(version);
ALTER TABLE ONLY public.course_staff
    ADD CONSTRAINT fk_course_staff_course_id FOREIGN KEY (course_id) REFERENCES public.courses(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.course_staff
    ADD CONSTRAINT fk_course_staff_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.drafts
    ADD CONSTRAINT fk_drafts_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.exam_starts
    ADD CONSTRAINT fk_exam_starts_assignment_id FOREIGN KEY (assignment_id) REFERENCES public.assignments(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.exam_starts
    ADD CONSTRAINT fk_exam_starts_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.explorations
    ADD CONSTRAINT fk_explorations_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.explorations
    ADD CONSTRAINT fk_explorations_version FOREIGN KEY (version) REFERENCES public.packages(version);
ALTER TABLE ONLY public.fair_shares
    ADD CONSTRAINT fk_fair_shares_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.fault_reports
    ADD CONSTRAINT fk_fault_reports_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.give_ups
    ADD CONSTRAINT fk_give_ups_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.identities
    ADD CONSTRAINT fk_identities_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.interviews
    ADD CONSTRAINT fk_interviews_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT fk_invitations_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.lesson_reads
    ADD CONSTRAINT fk_lesson_reads_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.lesson_runs
    ADD CONSTRAINT fk_lesson_runs_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.lti_contexts
    ADD CONSTRAINT fk_lti_contexts_course_id FOREIGN KEY (course_id) REFERENCES public.courses(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.lti_contexts
    ADD CONSTRAINT fk_lti_contexts_platform_id FOREIGN KEY (platform_id) REFERENCES public.lti_platforms(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.lti_launches
    ADD CONSTRAINT fk_lti_launches_platform_id FOREIGN KEY (platform_id) REFERENCES public.lti_platforms(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.lti_links
    ADD CONSTRAINT fk_lti_links_assignment_id FOREIGN KEY (assignment_id) REFERENCES public.assignments(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.lti_links
    ADD CONSTRAINT fk_lti_links_context_id FOREIGN KEY (context_id) REFERENCES public.lti_contexts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.lti_scores
    ADD CONSTRAINT fk_lti_scores_link_id FOREIGN KEY (link_id) REFERENCES public.lti_links(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.lti_scores
    ADD CONSTRAINT fk_lti_scores_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.lti_selections
    ADD CONSTRAINT fk_lti_selections_context_id FOREIGN KEY (context_id) REFERENCES public.lti_contexts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.lti_selections
    ADD CONSTRAINT fk_lti_selections_platform_id FOREIGN KEY (platform_id) REFERENCES public.lti_platforms(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.lti_selections
    ADD CONSTRAINT fk_lti_selections_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.proofs
    ADD CONSTRAINT fk_proofs_version FOREIGN KEY (version) REFERENCES public.packages(version);
ALTER TABLE ONLY public.publications
    ADD CONSTRAINT fk_publications_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.publications
    ADD CONSTRAINT fk_publications_version FOREIGN KEY (version) REFERENCES public.packages(version);
ALTER TABLE ONLY public.published
    ADD CONSTRAINT fk_published_version FOREIGN KEY (version) REFERENCES public.packages(version);
ALTER TABLE ONLY public.questions
    ADD CONSTRAINT fk_questions_version FOREIGN KEY (version) REFERENCES public.packages(version);
ALTER TABLE ONLY public.rejudged
    ADD CONSTRAINT fk_rejudged_attempt_id FOREIGN KEY (attempt_id) REFERENCES public.attempts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.rejudged
    ADD CONSTRAINT fk_rejudged_rejudge_id FOREIGN KEY (rejudge_id) REFERENCES public.rejudges(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.rejudged
    ADD CONSTRAINT fk_rejudged_trial_id FOREIGN KEY (trial_id) REFERENCES public.attempts(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.rejudges
    ADD CONSTRAINT fk_rejudges_version FOREIGN KEY (version) REFERENCES public.packages(version);
ALTER TABLE ONLY public.replaced_drafts
    ADD CONSTRAINT fk_replaced_drafts_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.repositories
    ADD CONSTRAINT fk_repositories_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.repository_syncs
    ADD CONSTRAINT fk_repository_syncs_repository_id FOREIGN KEY (repository_id) REFERENCES public.repositories(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.roster_lines
    ADD CONSTRAINT fk_roster_lines_course_id FOREIGN KEY (course_id) REFERENCES public.courses(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.roster_lines
    ADD CONSTRAINT fk_roster_lines_invitation_id FOREIGN KEY (invitation_id) REFERENCES public.invitations(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.roster_lines
    ADD CONSTRAINT fk_roster_lines_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.score_overrides
    ADD CONSTRAINT fk_score_overrides_attempt_id FOREIGN KEY (attempt_id) REFERENCES public.attempts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.score_overrides
    ADD CONSTRAINT fk_score_overrides_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.score_overrides
    ADD CONSTRAINT fk_score_overrides_whom_id FOREIGN KEY (whom_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT fk_sessions_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.shares
    ADD CONSTRAINT fk_shares_attempt_id FOREIGN KEY (attempt_id) REFERENCES public.attempts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.shares
    ADD CONSTRAINT fk_shares_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.sign_in_links
    ADD CONSTRAINT fk_sign_in_links_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT fk_webhook_deliveries_attempt_id FOREIGN KEY (attempt_id) REFERENCES public.attempts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT fk_webhook_deliveries_webhook_id FOREIGN KEY (webhook_id) REFERENCES public.webhooks(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT fk_webhooks_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.withheld_attempts
    ADD CONSTRAINT fk_withheld_attempts_attempt_id FOREIGN KEY (attempt_id) REFERENCES public.attempts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.withheld_attempts
    ADD CONSTRAINT fk_withheld_attempts_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
