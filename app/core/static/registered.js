// The platform that opened this window or frame closes it: https://www.imsglobal.org/spec/lti-dr/v1p0
(window.opener ?? window.parent).postMessage({ subject: "org.imsglobal.lti.close" }, "*");
