// Addresses of this page, and questions to the server.

const token = new URLSearchParams(location.search).get("token");

/** Return the address of a path, with the token if this page has it in its own address: frames get no cookies. */
export function address(path, parameters = {}) {
    const url = new URL(path, document.baseURI);
    url.search = "";
    if (token !== null) url.searchParams.set("token", token);
    for (const [name, value] of Object.entries(parameters)) {
        if (value !== null && value !== undefined) url.searchParams.set(name, value);
    }
    return url;
}

/** Return the JSON of an answer, or null if the server is not there or the question was given up. */
export async function ask(path, parameters, signal) {
    try {
        const answer = await fetch(address(path, parameters), { signal });
        return answer.ok ? await answer.json() : null;
    } catch {
        return null;
    }
}
