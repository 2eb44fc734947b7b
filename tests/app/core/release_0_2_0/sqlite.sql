BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0057_0045');
CREATE TABLE announcements (
	id VARCHAR(32) NOT NULL, 
	course_id VARCHAR(32) NOT NULL, 
	user_id VARCHAR(32), 
	text TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_announcements PRIMARY KEY (id), 
	CONSTRAINT fk_announcements_course_id FOREIGN KEY(course_id) REFERENCES courses (id) ON DELETE CASCADE, 
	CONSTRAINT fk_announcements_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE SET NULL
);
INSERT INTO "announcements" VALUES('0000000000000000000000000000000e','00000000000000000000000000000002','0000000000000000000000000000000c','announcements.text é','2026-11-30 12:00:00.000000');
CREATE TABLE "api_tokens" (
	token_hash VARCHAR(64) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	preset BOOLEAN NOT NULL, 
	id VARCHAR(32) NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	scopes VARCHAR(100) NOT NULL, 
	last_used_at DATETIME, 
	expires_at DATETIME, 
	CONSTRAINT pk_api_tokens PRIMARY KEY (token_hash), 
	CONSTRAINT fk_api_tokens_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT uq_api_tokens_id UNIQUE (id)
);
INSERT INTO "api_tokens" VALUES('api_tokens.token_hash é','0000000000000000000000000000000c','2026-11-30 12:00:00.000000',0,'api_tokens.id é','api_tokens.name é','api_tokens.scopes é','2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000');
CREATE TABLE assignment_extensions (
	assignment_id VARCHAR(32) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	extra_minutes INTEGER NOT NULL, 
	extra_attempts INTEGER NOT NULL, 
	reason VARCHAR(200) NOT NULL, 
	CONSTRAINT pk_assignment_extensions PRIMARY KEY (assignment_id, user_id), 
	CONSTRAINT fk_assignment_extensions_assignment_id FOREIGN KEY(assignment_id) REFERENCES assignments (id) ON DELETE CASCADE, 
	CONSTRAINT fk_assignment_extensions_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO "assignment_extensions" VALUES('00000000000000000000000000000010','0000000000000000000000000000000c',1,1,'assignment_extensions.reason é');
CREATE TABLE assignment_problems (
	assignment_id VARCHAR(32) NOT NULL, 
	position INTEGER NOT NULL, 
	problem VARCHAR(64) NOT NULL, 
	points INTEGER NOT NULL, pool INTEGER, 
	CONSTRAINT pk_assignment_problems PRIMARY KEY (assignment_id, position), 
	CONSTRAINT fk_assignment_problems_assignment_id FOREIGN KEY(assignment_id) REFERENCES assignments (id) ON DELETE CASCADE
);
INSERT INTO "assignment_problems" VALUES('00000000000000000000000000000010',1,'assignment_problems.problem é',1,1);
CREATE TABLE assignment_sections (
	assignment_id VARCHAR(32) NOT NULL, 
	section VARCHAR(200) NOT NULL, 
	opens_at DATETIME NOT NULL, 
	due_at DATETIME NOT NULL, 
	CONSTRAINT pk_assignment_sections PRIMARY KEY (assignment_id, section), 
	CONSTRAINT fk_assignment_sections_assignment_id FOREIGN KEY(assignment_id) REFERENCES assignments (id) ON DELETE CASCADE
);
INSERT INTO "assignment_sections" VALUES('00000000000000000000000000000010','assignment_sections.section é','2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000');
CREATE TABLE assignments (
	id VARCHAR(32) NOT NULL, 
	course_id VARCHAR(32) NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	opens_at DATETIME NOT NULL, 
	due_at DATETIME NOT NULL, 
	late_percent INTEGER, attempt_limit INTEGER, cool_down_minutes INTEGER, is_exam BOOLEAN DEFAULT 0 NOT NULL, counted VARCHAR(16) DEFAULT 'best' NOT NULL, grace_minutes INTEGER DEFAULT '0' NOT NULL, weight INTEGER, category VARCHAR(60), closes VARCHAR(100), closed_for VARCHAR(16), duration_minutes INTEGER, password_hash VARCHAR(200), addresses TEXT, 
	CONSTRAINT pk_assignments PRIMARY KEY (id), 
	CONSTRAINT fk_assignments_course_id FOREIGN KEY(course_id) REFERENCES courses (id) ON DELETE CASCADE
);
INSERT INTO "assignments" VALUES('00000000000000000000000000000010','00000000000000000000000000000002','assignments.name é','2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000',1,1,1,0,'assignments.coun',1,1,'assignments.category é','assignments.closes é','assignments.clos',1,'assignments.password_hash é','assignments.addresses é');
CREATE TABLE attempts (
	id VARCHAR(32) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	problem VARCHAR(64) NOT NULL, 
	version VARCHAR(64) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	source TEXT NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	phase VARCHAR(200), 
	priority INTEGER NOT NULL, 
	tries INTEGER NOT NULL, 
	fence_token VARCHAR(32), 
	lease_until DATETIME, 
	verdict JSON, 
	score INTEGER, 
	created_at DATETIME NOT NULL, 
	started_at DATETIME, 
	finished_at DATETIME, efficiency FLOAT, turn_at DATETIME DEFAULT '1970-01-01 00:00:00.000000' NOT NULL, not_before DATETIME, verdict_status VARCHAR(16), idempotency_key VARCHAR(255), rejudged_at DATETIME, score_before INTEGER, after_giving_up BOOLEAN DEFAULT 0 NOT NULL, verdict_reason VARCHAR(32), guest VARCHAR(64), faults JSON, own_inputs JSON, gradings JSON, fingerprint JSON, share VARCHAR(80), variant VARCHAR(32), 
	CONSTRAINT pk_attempts PRIMARY KEY (id), 
	CONSTRAINT fk_attempts_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO "attempts" VALUES('00000000000000000000000000000011','0000000000000000000000000000000c','add_one','attempts.version é','attempt','attempts.source é','finished','attempts.phase é',1,1,'attempts.fence_token é','2026-11-30 12:00:00.000000','{"schema_version": 2, "problem": "golden", "version": "v", "status": "rejected", "reason": "wrong_structure", "score": 90, "checks": [{"id": "values", "title": "Values", "passed": true, "points": 80, "max_points": 80, "trust": "verified", "message": "All 3 cases agree with the reference.", "evidence": [{"kind": "tolerances", "by_dtype": {"float32": {"rtol": 1e-05, "atol": 1e-06}}}]}, {"id": "optimizer", "title": "The optimizer is built as required", "passed": true, "points": 10, "max_points": 10, "trust": "observed", "message": "Every case builds nnx.Optimizer(model, optax.sgd(lr), wrt=nnx.Param)."}, {"id": "update", "title": "The update is applied once, with the right gradients", "passed": false, "points": 0, "max_points": 10, "trust": "observed", "message": "public-1: optimizer.update was never called; expected one call.", "headlines": ["optimizer.update was never called; expected one call."]}], "cases": [{"id": "public-1", "public": true, "passed": true, "message": "Agrees with the reference."}, {"id": "public-2", "public": true, "passed": true, "message": "Agrees with the reference."}, {"id": "hidden-1", "public": false, "passed": true, "message": "Agrees with the reference."}], "stdout": "printed", "walls": ["seccomp"]}',0,'2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000',NULL,'2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000','rejected','attempts.idempotency_key é','2026-11-30 12:00:00.000000',1,0,'wrong_structure','attempts.guest é','{}','{}','[]','{}','attempts.share é','attempts.variant é');
CREATE TABLE audit_log (
	id VARCHAR(32) NOT NULL, 
	at DATETIME NOT NULL, 
	user_id VARCHAR(32), 
	whom_id VARCHAR(32), 
	action VARCHAR(32) NOT NULL, 
	detail VARCHAR(200) NOT NULL, 
	reason VARCHAR(200) NOT NULL, course_id VARCHAR(32), 
	CONSTRAINT pk_audit_log PRIMARY KEY (id), 
	CONSTRAINT fk_audit_log_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE SET NULL, 
	CONSTRAINT fk_audit_log_whom_id FOREIGN KEY(whom_id) REFERENCES users (id) ON DELETE SET NULL
);
INSERT INTO "audit_log" VALUES('00000000000000000000000000000012','2026-11-30 12:00:00.000000','0000000000000000000000000000000c','0000000000000000000000000000000c','audit_log.action é','audit_log.detail é','audit_log.reason é','audit_log.course_id é');
CREATE TABLE badge_keys (
	id VARCHAR(32) NOT NULL, 
	sealed TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_badge_keys PRIMARY KEY (id)
);
INSERT INTO "badge_keys" VALUES('00000000000000000000000000000001','badge_keys.sealed é','2026-11-30 12:00:00.000000');
CREATE TABLE cell_marks (
	assignment_id VARCHAR(32) NOT NULL, 
	problem VARCHAR(64) NOT NULL, 
	whom_id VARCHAR(32) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	user_id VARCHAR(32), 
	hundredths INTEGER NOT NULL, 
	most_hundredths INTEGER, 
	reason VARCHAR(200) NOT NULL, 
	is_shown BOOLEAN NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_cell_marks PRIMARY KEY (assignment_id, problem, whom_id, kind), 
	CONSTRAINT fk_cell_marks_assignment_id FOREIGN KEY(assignment_id) REFERENCES assignments (id) ON DELETE CASCADE, 
	CONSTRAINT fk_cell_marks_whom_id FOREIGN KEY(whom_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT fk_cell_marks_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE SET NULL
);
INSERT INTO "cell_marks" VALUES('00000000000000000000000000000010','cell_marks.problem é','0000000000000000000000000000000c','cell_marks.kind ','0000000000000000000000000000000c',1,1,'cell_marks.reason é',0,'2026-11-30 12:00:00.000000');
CREATE TABLE comments (
	id VARCHAR(32) NOT NULL, 
	user_id VARCHAR(32), 
	whom_id VARCHAR(32) NOT NULL, 
	attempt_id VARCHAR(32) NOT NULL, 
	line INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	seen_at DATETIME, 
	resolved_at DATETIME, 
	CONSTRAINT pk_comments PRIMARY KEY (id), 
	CONSTRAINT fk_comments_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE SET NULL, 
	CONSTRAINT fk_comments_whom_id FOREIGN KEY(whom_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT fk_comments_attempt_id FOREIGN KEY(attempt_id) REFERENCES attempts (id) ON DELETE CASCADE
);
INSERT INTO "comments" VALUES('00000000000000000000000000000032','0000000000000000000000000000000c','0000000000000000000000000000000c','00000000000000000000000000000011',1,'comments.text é','2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000');
CREATE TABLE completions (
	id VARCHAR(32) NOT NULL, 
	token_hash VARCHAR(64) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	track VARCHAR(40) NOT NULL, 
	verified JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_completions PRIMARY KEY (id), 
	CONSTRAINT fk_completions_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT uq_completions_token_hash UNIQUE (token_hash), 
	CONSTRAINT uq_completions_user_id_track UNIQUE (user_id, track)
);
INSERT INTO "completions" VALUES('00000000000000000000000000000013','completions.token_hash é','0000000000000000000000000000000c','completions.track é','{}','2026-11-30 12:00:00.000000');
CREATE TABLE course_categories (
	course_id VARCHAR(32) NOT NULL, 
	position INTEGER NOT NULL, 
	name VARCHAR(60) NOT NULL, 
	weight INTEGER NOT NULL, 
	drop_lowest INTEGER NOT NULL, 
	CONSTRAINT pk_course_categories PRIMARY KEY (course_id, position), 
	CONSTRAINT fk_course_categories_course_id FOREIGN KEY(course_id) REFERENCES courses (id) ON DELETE CASCADE
);
INSERT INTO "course_categories" VALUES('00000000000000000000000000000002',1,'course_categories.name é',1,1);
CREATE TABLE course_members (
	course_id VARCHAR(32) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	role VARCHAR(16) NOT NULL, 
	joined_at DATETIME NOT NULL, rights VARCHAR(200), 
	CONSTRAINT pk_course_members PRIMARY KEY (course_id, user_id), 
	CONSTRAINT fk_course_members_course_id FOREIGN KEY(course_id) REFERENCES courses (id) ON DELETE CASCADE, 
	CONSTRAINT fk_course_members_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO "course_members" VALUES('00000000000000000000000000000002','0000000000000000000000000000000c','course_members.r','2026-11-30 12:00:00.000000','course_members.rights é');
CREATE TABLE course_problems (
	course_id VARCHAR(32) NOT NULL, 
	problem VARCHAR(64) NOT NULL, 
	version VARCHAR(64) NOT NULL, 
	visible_from DATETIME NOT NULL, 
	CONSTRAINT pk_course_problems PRIMARY KEY (course_id, problem), 
	CONSTRAINT fk_course_problems_course_id FOREIGN KEY(course_id) REFERENCES courses (id) ON DELETE CASCADE, 
	CONSTRAINT fk_course_problems_version FOREIGN KEY(version) REFERENCES packages (version)
);
INSERT INTO "course_problems" VALUES('00000000000000000000000000000002','course_problems.problem é','packages.version é','2026-11-30 12:00:00.000000');
CREATE TABLE course_staff (
	course_id VARCHAR(32) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	role VARCHAR(16) NOT NULL, 
	added_at DATETIME NOT NULL, 
	CONSTRAINT pk_course_staff PRIMARY KEY (course_id, user_id), 
	CONSTRAINT fk_course_staff_course_id FOREIGN KEY(course_id) REFERENCES courses (id) ON DELETE CASCADE, 
	CONSTRAINT fk_course_staff_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO "course_staff" VALUES('00000000000000000000000000000002','0000000000000000000000000000000c','course_staff.rol','2026-11-30 12:00:00.000000');
CREATE TABLE courses (
	id VARCHAR(32) NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	time_zone VARCHAR(64) NOT NULL, 
	join_code VARCHAR(16) NOT NULL, 
	created_at DATETIME NOT NULL, archived_at DATETIME, 
	CONSTRAINT pk_courses PRIMARY KEY (id), 
	CONSTRAINT uq_courses_join_code UNIQUE (join_code)
);
INSERT INTO "courses" VALUES('00000000000000000000000000000002','courses.name é','courses.time_zone é','courses.join_cod','2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000');
CREATE TABLE deployment (
	id INTEGER NOT NULL, 
	secret VARCHAR(64) NOT NULL, code VARCHAR(64), judging_secret VARCHAR(64), 
	CONSTRAINT pk_deployment PRIMARY KEY (id)
);
INSERT INTO "deployment" VALUES(1,'deployment.secret é','deployment.code é','deployment.judging_secret é');
CREATE TABLE drafts (
	user_id VARCHAR(32) NOT NULL, 
	problem VARCHAR(64) NOT NULL, 
	source TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	saved_at DATETIME NOT NULL, begun_at DATETIME, 
	CONSTRAINT pk_drafts PRIMARY KEY (user_id, problem), 
	CONSTRAINT fk_drafts_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO "drafts" VALUES('0000000000000000000000000000000c','drafts.problem é','drafts.source é',1,'2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000');
CREATE TABLE exam_starts (
	assignment_id VARCHAR(32) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	started_at DATETIME NOT NULL, 
	CONSTRAINT pk_exam_starts PRIMARY KEY (assignment_id, user_id), 
	CONSTRAINT fk_exam_starts_assignment_id FOREIGN KEY(assignment_id) REFERENCES assignments (id) ON DELETE CASCADE, 
	CONSTRAINT fk_exam_starts_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO "exam_starts" VALUES('00000000000000000000000000000010','0000000000000000000000000000000c','2026-11-30 12:00:00.000000');
CREATE TABLE "explorations" (
	id VARCHAR(32) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	problem VARCHAR(64), 
	version VARCHAR(64), 
	source TEXT NOT NULL, 
	against TEXT, 
	status VARCHAR(16) NOT NULL, 
	result JSON, 
	tries INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	finished_at DATETIME, 
	shared_at DATETIME, 
	fence_token VARCHAR(32), 
	lease_until DATETIME, 
	function JSON, chip VARCHAR(8), guest VARCHAR(64), phase VARCHAR(100), priority INTEGER DEFAULT '0' NOT NULL, turn_at DATETIME DEFAULT '1970-01-01 00:00:00.000000' NOT NULL, share VARCHAR(80), variant VARCHAR(32), 
	CONSTRAINT pk_explorations PRIMARY KEY (id), 
	CONSTRAINT fk_explorations_version FOREIGN KEY(version) REFERENCES packages (version), 
	CONSTRAINT fk_explorations_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO "explorations" VALUES('00000000000000000000000000000019','0000000000000000000000000000000c','explorations.digest é','explorations.problem é','packages.version é','explorations.source é','explorations.against é','explorations.sta','{}',1,'2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000','explorations.fence_token é','2026-11-30 12:00:00.000000','{}','explorat','explorations.guest é','explorations.phase é',1,'2026-11-30 12:00:00.000000','explorations.share é','explorations.variant é');
CREATE TABLE fair_shares (
	share VARCHAR(80) NOT NULL, 
	user_id VARCHAR(32), 
	round INTEGER NOT NULL, long_round INTEGER, 
	CONSTRAINT pk_fair_shares PRIMARY KEY (share), 
	CONSTRAINT fk_fair_shares_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO "fair_shares" VALUES('fair_shares.share é','0000000000000000000000000000000c',1,1);
CREATE TABLE fault_reports (
	id VARCHAR(32) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	problem VARCHAR(64) NOT NULL, 
	version VARCHAR(64) NOT NULL, 
	text TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	done_at DATETIME, 
	CONSTRAINT pk_fault_reports PRIMARY KEY (id), 
	CONSTRAINT fk_fault_reports_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO "fault_reports" VALUES('0000000000000000000000000000001b','0000000000000000000000000000000c','fault_reports.problem é','fault_reports.version é','fault_reports.text é','2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000');
CREATE TABLE give_ups (
	user_id VARCHAR(32) NOT NULL, 
	problem VARCHAR(64) NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_give_ups PRIMARY KEY (user_id, problem), 
	CONSTRAINT fk_give_ups_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO "give_ups" VALUES('0000000000000000000000000000000c','give_ups.problem é','2026-11-30 12:00:00.000000');
CREATE TABLE identities (
	issuer VARCHAR(255) NOT NULL, 
	subject VARCHAR(255) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	id VARCHAR(32) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_identities PRIMARY KEY (issuer, subject), 
	CONSTRAINT uq_identities_id UNIQUE (id), 
	CONSTRAINT fk_identities_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO "identities" VALUES('identities.issuer é','identities.subject é','identities.name é','identities.id é','0000000000000000000000000000000c','2026-11-30 12:00:00.000000');
CREATE TABLE interviews (
	id VARCHAR(32) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	level VARCHAR(16) NOT NULL, 
	problems JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	ended_at DATETIME, 
	CONSTRAINT pk_interviews PRIMARY KEY (id), 
	CONSTRAINT fk_interviews_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO "interviews" VALUES('0000000000000000000000000000001e','0000000000000000000000000000000c','interviews.level','[]','2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000');
CREATE TABLE invitations (
	token_hash VARCHAR(64) NOT NULL, 
	role VARCHAR(16) NOT NULL, 
	note VARCHAR(100) NOT NULL, 
	expires_at DATETIME NOT NULL, 
	id VARCHAR(32) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_invitations PRIMARY KEY (token_hash), 
	CONSTRAINT uq_invitations_id UNIQUE (id), 
	CONSTRAINT fk_invitations_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO "invitations" VALUES('invitations.token_hash é','invitations.role','invitations.note é','2026-11-30 12:00:00.000000','invitations.id é','0000000000000000000000000000000c','2026-11-30 12:00:00.000000');
CREATE TABLE issued_badges (
	id VARCHAR(32) NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_issued_badges PRIMARY KEY (id)
);
INSERT INTO "issued_badges" VALUES('00000000000000000000000000000004','2026-11-30 12:00:00.000000');
CREATE TABLE lesson_reads (
	user_id VARCHAR(32) NOT NULL, 
	lesson VARCHAR(40) NOT NULL, 
	read_at DATETIME NOT NULL, 
	CONSTRAINT pk_lesson_reads PRIMARY KEY (user_id, lesson), 
	CONSTRAINT fk_lesson_reads_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO "lesson_reads" VALUES('0000000000000000000000000000000c','lesson_reads.lesson é','2026-11-30 12:00:00.000000');
CREATE TABLE lesson_runs (
	id VARCHAR(32) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	guest VARCHAR(64), 
	lesson VARCHAR(40) NOT NULL, 
	program INTEGER NOT NULL, 
	source TEXT NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	result JSON, 
	tries INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	finished_at DATETIME, 
	fence_token VARCHAR(32), 
	lease_until DATETIME, priority INTEGER DEFAULT '0' NOT NULL, turn_at DATETIME DEFAULT '1970-01-01 00:00:00.000000' NOT NULL, share VARCHAR(80), function JSON, compiled JSON, 
	CONSTRAINT pk_lesson_runs PRIMARY KEY (id), 
	CONSTRAINT fk_lesson_runs_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO "lesson_runs" VALUES('00000000000000000000000000000021','0000000000000000000000000000000c','lesson_runs.guest é','lesson_runs.lesson é',1,'lesson_runs.source é','lesson_runs.stat','{}',1,'2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000','lesson_runs.fence_token é','2026-11-30 12:00:00.000000',1,'2026-11-30 12:00:00.000000','lesson_runs.share é','{}','{}');
CREATE TABLE lti_contexts (
	id VARCHAR(32) NOT NULL, 
	platform_id VARCHAR(32) NOT NULL, 
	context VARCHAR(255) NOT NULL, 
	title VARCHAR(100) NOT NULL, 
	members_url VARCHAR(1000), 
	course_id VARCHAR(32), 
	roster_at DATETIME, 
	CONSTRAINT pk_lti_contexts PRIMARY KEY (id), 
	CONSTRAINT fk_lti_contexts_platform_id FOREIGN KEY(platform_id) REFERENCES lti_platforms (id) ON DELETE CASCADE, 
	CONSTRAINT fk_lti_contexts_course_id FOREIGN KEY(course_id) REFERENCES courses (id) ON DELETE SET NULL, 
	CONSTRAINT uq_lti_contexts_platform_id_context UNIQUE (platform_id, context)
);
INSERT INTO "lti_contexts" VALUES('00000000000000000000000000000022','00000000000000000000000000000006','lti_contexts.context é','lti_contexts.title é','lti_contexts.members_url é','00000000000000000000000000000002','2026-11-30 12:00:00.000000');
CREATE TABLE lti_keys (
	id VARCHAR(32) NOT NULL, 
	sealed TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_lti_keys PRIMARY KEY (id)
);
INSERT INTO "lti_keys" VALUES('00000000000000000000000000000005','lti_keys.sealed é','2026-11-30 12:00:00.000000');
CREATE TABLE lti_launches (
	nonce_hash VARCHAR(64) NOT NULL, 
	ticket_hash VARCHAR(64), 
	browser_hash VARCHAR(64) NOT NULL, 
	platform_id VARCHAR(32) NOT NULL, 
	message TEXT NOT NULL, 
	expires_at DATETIME NOT NULL, 
	CONSTRAINT pk_lti_launches PRIMARY KEY (nonce_hash), 
	CONSTRAINT fk_lti_launches_platform_id FOREIGN KEY(platform_id) REFERENCES lti_platforms (id) ON DELETE CASCADE, 
	CONSTRAINT uq_lti_launches_ticket_hash UNIQUE (ticket_hash)
);
INSERT INTO "lti_launches" VALUES('lti_launches.nonce_hash é','lti_launches.ticket_hash é','lti_launches.browser_hash é','00000000000000000000000000000006','lti_launches.message é','2026-11-30 12:00:00.000000');
CREATE TABLE lti_links (
	id VARCHAR(32) NOT NULL, 
	context_id VARCHAR(32) NOT NULL, 
	resource VARCHAR(255) NOT NULL, 
	title VARCHAR(100) NOT NULL, 
	problem VARCHAR(64), 
	assignment_id VARCHAR(32), 
	line_item VARCHAR(1000), 
	CONSTRAINT pk_lti_links PRIMARY KEY (id), 
	CONSTRAINT fk_lti_links_context_id FOREIGN KEY(context_id) REFERENCES lti_contexts (id) ON DELETE CASCADE, 
	CONSTRAINT fk_lti_links_assignment_id FOREIGN KEY(assignment_id) REFERENCES assignments (id) ON DELETE SET NULL, 
	CONSTRAINT uq_lti_links_context_id_resource UNIQUE (context_id, resource)
);
INSERT INTO "lti_links" VALUES('00000000000000000000000000000034','00000000000000000000000000000022','lti_links.resource é','lti_links.title é','lti_links.problem é','00000000000000000000000000000010','lti_links.line_item é');
CREATE TABLE lti_platforms (
	id VARCHAR(32) NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	issuer VARCHAR(200) NOT NULL, 
	client_id VARCHAR(200) NOT NULL, 
	login_url VARCHAR(1000) NOT NULL, 
	token_url VARCHAR(1000) NOT NULL, 
	keys_url VARCHAR(1000) NOT NULL, 
	deployments TEXT NOT NULL, 
	grants_instructor BOOLEAN NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_lti_platforms PRIMARY KEY (id), 
	CONSTRAINT uq_lti_platforms_issuer_client_id UNIQUE (issuer, client_id)
);
INSERT INTO "lti_platforms" VALUES('00000000000000000000000000000006','lti_platforms.name é','lti_platforms.issuer é','lti_platforms.client_id é','lti_platforms.login_url é','lti_platforms.token_url é','lti_platforms.keys_url é','lti_platforms.deployments é',0,'2026-11-30 12:00:00.000000');
CREATE TABLE lti_scores (
	id VARCHAR(32) NOT NULL, 
	link_id VARCHAR(32) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	subject VARCHAR(255) NOT NULL, 
	tries INTEGER NOT NULL, 
	next_try_at DATETIME, 
	delivered_at DATETIME, 
	answer VARCHAR(200), 
	fence_token VARCHAR(32), 
	lease_until DATETIME, 
	CONSTRAINT pk_lti_scores PRIMARY KEY (id), 
	CONSTRAINT fk_lti_scores_link_id FOREIGN KEY(link_id) REFERENCES lti_links (id) ON DELETE CASCADE, 
	CONSTRAINT fk_lti_scores_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT uq_lti_scores_link_id_subject UNIQUE (link_id, subject)
);
INSERT INTO "lti_scores" VALUES('0000000000000000000000000000003d','00000000000000000000000000000034','0000000000000000000000000000000c','lti_scores.subject é',1,'2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000','lti_scores.answer é','lti_scores.fence_token é','2026-11-30 12:00:00.000000');
CREATE TABLE lti_selections (
	id VARCHAR(32) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	context_id VARCHAR(32), 
	platform_id VARCHAR(32) NOT NULL, 
	deployment VARCHAR(255) NOT NULL, 
	return_url VARCHAR(1000) NOT NULL, 
	data TEXT, 
	expires_at DATETIME NOT NULL, 
	CONSTRAINT pk_lti_selections PRIMARY KEY (id), 
	CONSTRAINT fk_lti_selections_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT fk_lti_selections_context_id FOREIGN KEY(context_id) REFERENCES lti_contexts (id) ON DELETE CASCADE, 
	CONSTRAINT fk_lti_selections_platform_id FOREIGN KEY(platform_id) REFERENCES lti_platforms (id) ON DELETE CASCADE
);
INSERT INTO "lti_selections" VALUES('00000000000000000000000000000035','0000000000000000000000000000000c','00000000000000000000000000000022','00000000000000000000000000000006','lti_selections.deployment é','lti_selections.return_url é','lti_selections.data é','2026-11-30 12:00:00.000000');
CREATE TABLE packages (
	version VARCHAR(64) NOT NULL, 
	slug VARCHAR(64) NOT NULL, 
	files JSON NOT NULL, 
	created_at DATETIME NOT NULL, known JSON, explained BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_packages PRIMARY KEY (version)
);
INSERT INTO "packages" VALUES('packages.version é','add_one','{"problem.toml": "schema_version = 1\n"}','2026-11-30 12:00:00.000000','{}',0);
CREATE TABLE proofs (
	id VARCHAR(32) NOT NULL, 
	version VARCHAR(64) NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	findings JSON NOT NULL, 
	total INTEGER NOT NULL, 
	tries INTEGER NOT NULL, 
	fence_token VARCHAR(32), 
	lease_until DATETIME, 
	created_at DATETIME NOT NULL, 
	finished_at DATETIME, priority INTEGER DEFAULT '0' NOT NULL, turn_at DATETIME DEFAULT '1970-01-01 00:00:00.000000' NOT NULL, share VARCHAR(80), 
	CONSTRAINT pk_proofs PRIMARY KEY (id), 
	CONSTRAINT fk_proofs_version FOREIGN KEY(version) REFERENCES packages (version)
);
INSERT INTO "proofs" VALUES('00000000000000000000000000000024','packages.version é','proofs.status é','[]',1,1,'proofs.fence_token é','2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000',1,'2026-11-30 12:00:00.000000','proofs.share é');
CREATE TABLE publications (
	id VARCHAR(32) NOT NULL, 
	problem VARCHAR(64) NOT NULL, 
	version VARCHAR(64) NOT NULL, 
	origin VARCHAR(16) NOT NULL, 
	user_id VARCHAR(32), 
	checked BOOLEAN, 
	forced BOOLEAN NOT NULL, 
	published_at DATETIME NOT NULL, 
	CONSTRAINT pk_publications PRIMARY KEY (id), 
	CONSTRAINT fk_publications_version FOREIGN KEY(version) REFERENCES packages (version), 
	CONSTRAINT fk_publications_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE SET NULL
);
INSERT INTO "publications" VALUES('00000000000000000000000000000025','publications.problem é','packages.version é','publications.ori','0000000000000000000000000000000c',0,0,'2026-11-30 12:00:00.000000');
CREATE TABLE published (
	slug VARCHAR(64) NOT NULL, 
	version VARCHAR(64) NOT NULL, 
	origin VARCHAR(16) NOT NULL, 
	published_at DATETIME NOT NULL, 
	CONSTRAINT pk_published PRIMARY KEY (slug), 
	CONSTRAINT fk_published_version FOREIGN KEY(version) REFERENCES packages (version)
);
INSERT INTO "published" VALUES('published.slug é','packages.version é','published.origin','2026-11-30 12:00:00.000000');
CREATE TABLE questions (
	version VARCHAR(64) NOT NULL, 
	drawn JSON NOT NULL, 
	drawn_at DATETIME NOT NULL, 
	CONSTRAINT pk_questions PRIMARY KEY (version), 
	CONSTRAINT fk_questions_version FOREIGN KEY(version) REFERENCES packages (version)
);
INSERT INTO "questions" VALUES('packages.version é','{}','2026-11-30 12:00:00.000000');
CREATE TABLE rejudged (
	rejudge_id VARCHAR(32) NOT NULL, 
	attempt_id VARCHAR(32) NOT NULL, 
	trial_id VARCHAR(32), 
	status VARCHAR(16) NOT NULL, 
	changed BOOLEAN NOT NULL, 
	old_version VARCHAR(64) NOT NULL, 
	old_status VARCHAR(16) NOT NULL, 
	old_score INTEGER NOT NULL, 
	new_status VARCHAR(16), 
	new_reason VARCHAR(32), 
	new_score INTEGER, 
	CONSTRAINT pk_rejudged PRIMARY KEY (rejudge_id, attempt_id), 
	CONSTRAINT fk_rejudged_rejudge_id FOREIGN KEY(rejudge_id) REFERENCES rejudges (id) ON DELETE CASCADE, 
	CONSTRAINT fk_rejudged_attempt_id FOREIGN KEY(attempt_id) REFERENCES attempts (id) ON DELETE CASCADE, 
	CONSTRAINT fk_rejudged_trial_id FOREIGN KEY(trial_id) REFERENCES attempts (id) ON DELETE SET NULL
);
INSERT INTO "rejudged" VALUES('00000000000000000000000000000028','00000000000000000000000000000011','00000000000000000000000000000011','rejudged.status ',0,'rejudged.old_version é','rejudged.old_sta',1,'rejudged.new_sta','rejudged.new_reason é',1);
CREATE TABLE rejudges (
	id VARCHAR(32) NOT NULL, 
	problem VARCHAR(64) NOT NULL, 
	version VARCHAR(64) NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	created_at DATETIME NOT NULL, 
	finished_at DATETIME, 
	applied_at DATETIME, selection JSON, never_lower BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_rejudges PRIMARY KEY (id), 
	CONSTRAINT fk_rejudges_version FOREIGN KEY(version) REFERENCES packages (version)
);
INSERT INTO "rejudges" VALUES('00000000000000000000000000000028','rejudges.problem é','packages.version é','rejudges.status ','2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000','{}',0);
CREATE TABLE rendered_texts (
	digest VARCHAR(64) NOT NULL, 
	renderer VARCHAR(64) NOT NULL, 
	rendered JSON NOT NULL, 
	rendered_at DATETIME NOT NULL, 
	CONSTRAINT pk_rendered_texts PRIMARY KEY (digest)
);
INSERT INTO "rendered_texts" VALUES('rendered_texts.digest é','rendered_texts.renderer é','{}','2026-11-30 12:00:00.000000');
CREATE TABLE replaced_drafts (
	id VARCHAR(32) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	problem VARCHAR(64) NOT NULL, 
	source TEXT NOT NULL, 
	replaced_at DATETIME NOT NULL, 
	CONSTRAINT pk_replaced_drafts PRIMARY KEY (id), 
	CONSTRAINT fk_replaced_drafts_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO "replaced_drafts" VALUES('00000000000000000000000000000029','0000000000000000000000000000000c','replaced_drafts.problem é','replaced_drafts.source é','2026-11-30 12:00:00.000000');
CREATE TABLE repositories (
	id VARCHAR(32) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	kind VARCHAR(8) NOT NULL, 
	address VARCHAR(500) NOT NULL, 
	branch VARCHAR(200) NOT NULL, 
	folder VARCHAR(200) NOT NULL, 
	username VARCHAR(100) NOT NULL, 
	sealed_token TEXT, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_repositories PRIMARY KEY (id), 
	CONSTRAINT fk_repositories_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO "repositories" VALUES('0000000000000000000000000000002a','0000000000000000000000000000000c','reposito','repositories.address é','repositories.branch é','repositories.folder é','repositories.username é','repositories.sealed_token é','2026-11-30 12:00:00.000000');
CREATE TABLE repository_syncs (
	id VARCHAR(32) NOT NULL, 
	repository_id VARCHAR(32) NOT NULL, 
	cause VARCHAR(8) NOT NULL, 
	again BOOLEAN NOT NULL, 
	"commit" VARCHAR(64), 
	fault VARCHAR(500), 
	problems JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	until DATETIME NOT NULL, 
	finished_at DATETIME, 
	CONSTRAINT pk_repository_syncs PRIMARY KEY (id), 
	CONSTRAINT fk_repository_syncs_repository_id FOREIGN KEY(repository_id) REFERENCES repositories (id) ON DELETE CASCADE
);
INSERT INTO "repository_syncs" VALUES('00000000000000000000000000000037','0000000000000000000000000000002a','reposito',0,'repository_syncs.commit é','repository_syncs.fault é','[]','2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000');
CREATE TABLE roster_lines (
	id VARCHAR(32) NOT NULL, 
	course_id VARCHAR(32) NOT NULL, 
	user_id VARCHAR(32), 
	invitation_id VARCHAR(32), 
	role VARCHAR(16) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	given_name VARCHAR(100) NOT NULL, 
	family_name VARCHAR(100) NOT NULL, 
	email VARCHAR(200) NOT NULL, 
	student_number VARCHAR(100) NOT NULL, 
	login VARCHAR(100) NOT NULL, 
	external_id VARCHAR(100) NOT NULL, 
	section VARCHAR(200) NOT NULL, 
	created_at DATETIME NOT NULL, 
	site VARCHAR(200), 
	fence_token VARCHAR(32), 
	lease_until DATETIME, 
	tries INTEGER NOT NULL, 
	next_try_at DATETIME, 
	delivered_at DATETIME, 
	answer VARCHAR(200), 
	CONSTRAINT pk_roster_lines PRIMARY KEY (id), 
	CONSTRAINT fk_roster_lines_course_id FOREIGN KEY(course_id) REFERENCES courses (id) ON DELETE CASCADE, 
	CONSTRAINT fk_roster_lines_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT fk_roster_lines_invitation_id FOREIGN KEY(invitation_id) REFERENCES invitations (id) ON DELETE SET NULL, 
	CONSTRAINT uq_roster_lines_course_id_user_id UNIQUE (course_id, user_id)
);
INSERT INTO "roster_lines" VALUES('00000000000000000000000000000038','00000000000000000000000000000002','0000000000000000000000000000000c','invitations.id é','roster_lines.rol','roster_lines.name é','roster_lines.given_name é','roster_lines.family_name é','roster_lines.email é','roster_lines.student_number é','roster_lines.login é','roster_lines.external_id é','roster_lines.section é','2026-11-30 12:00:00.000000','roster_lines.site é','roster_lines.fence_token é','2026-11-30 12:00:00.000000',1,'2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000','roster_lines.answer é');
CREATE TABLE score_overrides (
	attempt_id VARCHAR(32) NOT NULL, 
	user_id VARCHAR(32), 
	whom_id VARCHAR(32) NOT NULL, 
	score INTEGER NOT NULL, 
	reason VARCHAR(200) NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_score_overrides PRIMARY KEY (attempt_id), 
	CONSTRAINT fk_score_overrides_attempt_id FOREIGN KEY(attempt_id) REFERENCES attempts (id) ON DELETE CASCADE, 
	CONSTRAINT fk_score_overrides_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE SET NULL, 
	CONSTRAINT fk_score_overrides_whom_id FOREIGN KEY(whom_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO "score_overrides" VALUES('00000000000000000000000000000011','0000000000000000000000000000000c','0000000000000000000000000000000c',1,'score_overrides.reason é','2026-11-30 12:00:00.000000');
CREATE TABLE "sessions" (
	token_hash VARCHAR(64) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	id VARCHAR(32) NOT NULL, 
	user_agent VARCHAR(300) NOT NULL, 
	last_used_at DATETIME, authenticated_at DATETIME, 
	CONSTRAINT pk_sessions PRIMARY KEY (token_hash), 
	CONSTRAINT fk_sessions_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT uq_sessions_id UNIQUE (id)
);
INSERT INTO "sessions" VALUES('sessions.token_hash é','0000000000000000000000000000000c','2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000','sessions.id é','sessions.user_agent é','2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000');
CREATE TABLE shared_answers (
	"key" VARCHAR(64) NOT NULL, 
	files BLOB NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_shared_answers PRIMARY KEY ("key")
);
INSERT INTO "shared_answers" VALUES('shared_answers.key é',X'0001','2026-11-30 12:00:00.000000');
CREATE TABLE shares (
	token_hash VARCHAR(64) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	attempt_id VARCHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_shares PRIMARY KEY (token_hash), 
	CONSTRAINT fk_shares_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT fk_shares_attempt_id FOREIGN KEY(attempt_id) REFERENCES attempts (id) ON DELETE CASCADE, 
	CONSTRAINT uq_shares_attempt_id UNIQUE (attempt_id)
);
INSERT INTO "shares" VALUES('shares.token_hash é','0000000000000000000000000000000c','00000000000000000000000000000011','2026-11-30 12:00:00.000000');
CREATE TABLE sign_in_failures (
	subject_hash VARCHAR(64) NOT NULL, 
	failures INTEGER NOT NULL, 
	last_at DATETIME NOT NULL, 
	blocked_until DATETIME, 
	CONSTRAINT pk_sign_in_failures PRIMARY KEY (subject_hash)
);
INSERT INTO "sign_in_failures" VALUES('sign_in_failures.subject_hash é',1,'2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000');
CREATE TABLE sign_in_links (
	token_hash VARCHAR(64) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	CONSTRAINT pk_sign_in_links PRIMARY KEY (token_hash), 
	CONSTRAINT fk_sign_in_links_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO "sign_in_links" VALUES('sign_in_links.token_hash é','0000000000000000000000000000000c','2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000');
CREATE TABLE sign_up_counts (
	subject_hash VARCHAR(64) NOT NULL, 
	tries INTEGER NOT NULL, 
	ends_at DATETIME NOT NULL, 
	CONSTRAINT pk_sign_up_counts PRIMARY KEY (subject_hash)
);
INSERT INTO "sign_up_counts" VALUES('sign_up_counts.subject_hash é',1,'2026-11-30 12:00:00.000000');
CREATE TABLE users (
	id VARCHAR(32) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	role VARCHAR(16) NOT NULL, 
	created_at DATETIME NOT NULL, password_hash VARCHAR(255), ranking_name VARCHAR(200), in_rankings BOOLEAN DEFAULT 1 NOT NULL, deactivated_at DATETIME, 
	CONSTRAINT pk_users PRIMARY KEY (id), 
	CONSTRAINT uq_users_name UNIQUE (name)
);
INSERT INTO "users" VALUES('0000000000000000000000000000000c','users.name é','owner','2026-11-30 12:00:00.000000','users.password_hash é','users.ranking_name é',0,'2026-11-30 12:00:00.000000');
CREATE TABLE webhook_deliveries (
	id VARCHAR(32) NOT NULL, 
	webhook_id VARCHAR(32) NOT NULL, 
	attempt_id VARCHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	tries INTEGER NOT NULL, 
	next_try_at DATETIME, 
	delivered_at DATETIME, 
	answer VARCHAR(200), fence_token VARCHAR(32), lease_until DATETIME, 
	CONSTRAINT pk_webhook_deliveries PRIMARY KEY (id), 
	CONSTRAINT fk_webhook_deliveries_webhook_id FOREIGN KEY(webhook_id) REFERENCES webhooks (id) ON DELETE CASCADE, 
	CONSTRAINT fk_webhook_deliveries_attempt_id FOREIGN KEY(attempt_id) REFERENCES attempts (id) ON DELETE CASCADE
);
INSERT INTO "webhook_deliveries" VALUES('0000000000000000000000000000003b','0000000000000000000000000000002d','00000000000000000000000000000011','2026-11-30 12:00:00.000000',1,'2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000','webhook_deliveries.answer é','webhook_deliveries.fence_token é','2026-11-30 12:00:00.000000');
CREATE TABLE webhooks (
	id VARCHAR(32) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	url VARCHAR(2000) NOT NULL, 
	created_at DATETIME NOT NULL, slow_tries INTEGER DEFAULT '0' NOT NULL, paused_until DATETIME, 
	CONSTRAINT pk_webhooks PRIMARY KEY (id), 
	CONSTRAINT fk_webhooks_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO "webhooks" VALUES('0000000000000000000000000000002d','0000000000000000000000000000000c','webhooks.url é','2026-11-30 12:00:00.000000',1,'2026-11-30 12:00:00.000000');
CREATE TABLE withheld_attempts (
	attempt_id VARCHAR(32) NOT NULL, 
	assignment_id VARCHAR(32) NOT NULL, 
	user_id VARCHAR(32) NOT NULL, 
	problem VARCHAR(64) NOT NULL, 
	until DATETIME NOT NULL, 
	CONSTRAINT pk_withheld_attempts PRIMARY KEY (attempt_id, assignment_id), 
	CONSTRAINT fk_withheld_attempts_attempt_id FOREIGN KEY(attempt_id) REFERENCES attempts (id) ON DELETE CASCADE, 
	CONSTRAINT fk_withheld_attempts_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO "withheld_attempts" VALUES('00000000000000000000000000000011','0000000000000000000000000000003c','0000000000000000000000000000000c','withheld_attempts.problem é','2026-11-30 12:00:00.000000');
CREATE TABLE workers (
	id VARCHAR(32) NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	version VARCHAR(32) NOT NULL, 
	slots INTEGER NOT NULL, 
	can_grade BOOLEAN NOT NULL, 
	walls JSON NOT NULL, 
	setbacks JSON NOT NULL, 
	warnings JSON NOT NULL, 
	clock_offset_s FLOAT NOT NULL, 
	started_at DATETIME NOT NULL, 
	seen_at DATETIME NOT NULL, code VARCHAR(64), 
	CONSTRAINT pk_workers PRIMARY KEY (id)
);
INSERT INTO "workers" VALUES('0000000000000000000000000000000d','workers.name é','workers.version é',1,0,'[]','[]','[]',0.5,'2026-11-30 12:00:00.000000','2026-11-30 12:00:00.000000','workers.code é');
CREATE INDEX ix_sign_in_links_user_id ON sign_in_links (user_id);
CREATE INDEX ix_attempts_user_id_created_at_id ON attempts (user_id, created_at, id);
CREATE INDEX ix_sessions_user_id ON sessions (user_id);
CREATE INDEX ix_api_tokens_user_id ON api_tokens (user_id);
CREATE INDEX ix_invitations_user_id ON invitations (user_id);
CREATE INDEX ix_identities_user_id ON identities (user_id);
CREATE INDEX ix_sign_in_failures_last_at ON sign_in_failures (last_at);
CREATE INDEX ix_attempts_status_priority_turn_at_id ON attempts (status, priority, turn_at, id);
CREATE INDEX ix_attempts_finished_at ON attempts (finished_at);
CREATE INDEX ix_attempts_user_id_problem_created_at_id ON attempts (user_id, problem, created_at, id);
CREATE INDEX ix_attempts_scored ON attempts (user_id, problem, score, verdict_status) WHERE score IS NOT NULL;
CREATE INDEX ix_attempts_ranked ON attempts (problem, user_id, efficiency, created_at) WHERE efficiency IS NOT NULL;
CREATE UNIQUE INDEX ix_attempts_user_id_idempotency_key ON attempts (user_id, idempotency_key);
CREATE INDEX ix_webhooks_user_id ON webhooks (user_id);
CREATE INDEX ix_webhook_deliveries_next_try_at ON webhook_deliveries (next_try_at);
CREATE INDEX ix_webhook_deliveries_attempt_id ON webhook_deliveries (attempt_id);
CREATE INDEX ix_webhook_deliveries_webhook_id_created_at_id ON webhook_deliveries (webhook_id, created_at, id);
CREATE INDEX ix_proofs_version_created_at ON proofs (version, created_at);
CREATE INDEX ix_attempts_judged ON attempts (problem, version) WHERE score IS NOT NULL;
CREATE INDEX ix_rejudges_status ON rejudges (status);
CREATE INDEX ix_rejudges_problem_status ON rejudges (problem, status);
CREATE INDEX ix_rejudged_rejudge_id_status ON rejudged (rejudge_id, status, attempt_id);
CREATE INDEX ix_rejudged_rejudge_id_changed ON rejudged (rejudge_id, changed, attempt_id);
CREATE INDEX ix_rejudged_attempt_id ON rejudged (attempt_id);
CREATE INDEX ix_rejudged_trial_id ON rejudged (trial_id);
CREATE INDEX ix_sign_up_counts_ends_at ON sign_up_counts (ends_at);
CREATE INDEX ix_publications_problem_published_at_id ON publications (problem, published_at, id);
CREATE INDEX ix_publications_user_id ON publications (user_id);
CREATE INDEX ix_packages_slug_created_at_version ON packages (slug, created_at, version);
CREATE INDEX ix_rejudges_problem_created_at_id ON rejudges (problem, created_at, id);
CREATE INDEX ix_replaced_drafts_user_id_replaced_at ON replaced_drafts (user_id, replaced_at);
CREATE INDEX ix_shares_user_id ON shares (user_id);
CREATE UNIQUE INDEX ix_users_ranking_name ON users (ranking_name);
CREATE INDEX ix_fault_reports_user_id ON fault_reports (user_id);
CREATE INDEX ix_audit_log_at_id ON audit_log (at, id);
CREATE INDEX ix_audit_log_user_id ON audit_log (user_id);
CREATE INDEX ix_audit_log_whom_id ON audit_log (whom_id);
CREATE INDEX ix_attempts_problem_user_id_created_at ON attempts (problem, user_id, created_at);
CREATE INDEX ix_course_members_user_id ON course_members (user_id);
CREATE INDEX ix_assignments_course_id ON assignments (course_id);
CREATE INDEX ix_attempts_graded ON attempts (user_id, problem, created_at, score) WHERE score IS NOT NULL;
CREATE INDEX ix_lti_launches_expires_at ON lti_launches (expires_at);
CREATE INDEX ix_lti_contexts_course_id ON lti_contexts (course_id);
CREATE INDEX ix_lti_links_problem ON lti_links (problem);
CREATE INDEX ix_lti_links_assignment_id ON lti_links (assignment_id);
CREATE INDEX ix_lti_scores_user_id ON lti_scores (user_id);
CREATE INDEX ix_lti_scores_next_try_at ON lti_scores (next_try_at);
CREATE INDEX ix_lti_selections_user_id ON lti_selections (user_id);
CREATE INDEX ix_comments_user_id ON comments (user_id);
CREATE INDEX ix_comments_whom_id ON comments (whom_id);
CREATE INDEX ix_comments_attempt_id_line ON comments (attempt_id, line);
CREATE INDEX ix_assignment_extensions_user_id ON assignment_extensions (user_id);
CREATE INDEX ix_withheld_attempts_assignment_id ON withheld_attempts (assignment_id);
CREATE INDEX ix_withheld_attempts_problem ON withheld_attempts (problem);
CREATE INDEX ix_withheld_attempts_until ON withheld_attempts (until);
CREATE INDEX ix_withheld_attempts_user_id ON withheld_attempts (user_id);
CREATE INDEX ix_announcements_course_id ON announcements (course_id);
CREATE INDEX ix_announcements_user_id ON announcements (user_id);
CREATE INDEX ix_score_overrides_user_id ON score_overrides (user_id);
CREATE INDEX ix_score_overrides_whom_id ON score_overrides (whom_id);
CREATE INDEX ix_repositories_user_id ON repositories (user_id);
CREATE INDEX ix_repository_syncs_repository_id_created_at ON repository_syncs (repository_id, created_at);
CREATE INDEX ix_explorations_digest ON explorations (digest);
CREATE INDEX ix_explorations_user_id_created_at ON explorations (user_id, created_at);
CREATE INDEX ix_lesson_runs_user_id_lesson ON lesson_runs (user_id, lesson);
CREATE INDEX ix_attempts_unexplained ON attempts (problem, id) WHERE fingerprint IS NOT NULL;
CREATE INDEX ix_rendered_texts_renderer ON rendered_texts (renderer);
CREATE INDEX ix_fair_shares_user_id ON fair_shares (user_id);
CREATE INDEX ix_fair_shares_round ON fair_shares (round);
CREATE INDEX ix_explorations_status_priority_turn_at_id ON explorations (status, priority, turn_at, id);
CREATE INDEX ix_lesson_runs_status_priority_turn_at_id ON lesson_runs (status, priority, turn_at, id);
CREATE INDEX ix_proofs_status_priority_turn_at_id ON proofs (status, priority, turn_at, id);
CREATE INDEX ix_attempts_waiting ON attempts (share, priority) WHERE status IN ('queued', 'running');
CREATE INDEX ix_explorations_waiting ON explorations (share, priority) WHERE status IN ('queued', 'running');
CREATE INDEX ix_lesson_runs_waiting ON lesson_runs (share, priority) WHERE status IN ('queued', 'running');
CREATE INDEX ix_proofs_waiting ON proofs (share, priority) WHERE status IN ('queued', 'running');
CREATE INDEX ix_interviews_user_id_created_at_id ON interviews (user_id, created_at, id);
CREATE INDEX ix_roster_lines_user_id ON roster_lines (user_id);
CREATE INDEX ix_roster_lines_invitation_id ON roster_lines (invitation_id);
CREATE INDEX ix_roster_lines_email ON roster_lines (email);
CREATE INDEX ix_roster_lines_student_number ON roster_lines (student_number);
CREATE INDEX ix_roster_lines_next_try_at ON roster_lines (next_try_at);
CREATE INDEX ix_cell_marks_whom_id ON cell_marks (whom_id);
CREATE INDEX ix_cell_marks_user_id ON cell_marks (user_id);
CREATE INDEX ix_exam_starts_user_id ON exam_starts (user_id);
CREATE INDEX ix_course_staff_user_id ON course_staff (user_id);
CREATE INDEX ix_fair_shares_long_round ON fair_shares (long_round);
COMMIT;
