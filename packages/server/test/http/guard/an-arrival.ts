import type { AdmittedRequest, ArrivedRequest } from "../../../src/http/guard.ts";

/** A request as the application hands it to its guards. */
export function anArrival(headers: Record<string, string> = {}, more: Partial<ArrivedRequest> = {}): ArrivedRequest {
  return {
    request_id: "r1",
    method: "GET",
    url: new URL("http://127.0.0.1:8000/sessions"),
    headers: new Headers({ host: "127.0.0.1:8000", ...headers }),
    route: "listSessions",
    remote_address: "127.0.0.1",
    ...more,
  };
}

export function anAdmission(scope: AdmittedRequest["scope"], more: Partial<AdmittedRequest> = {}): AdmittedRequest {
  return { ...anArrival(), route: "listSessions", scope, admin: false, onEnd: () => {}, ...more };
}
