// What a demo runs beside this page, and how to send a post if posts can be flagged at this address.

import { fetchAbout } from "./api.js";
import { make, slot } from "./dom.js";

/** Say in `root` what runs here and how to send a post, as far as the server tells. */
export async function showParts(root) {
  const { parts, takes_flags } = await fetchAbout();
  if (!root.isConnected) return;
  slot(root, "parts-card").hidden = !parts.length && !takes_flags;
  slot(root, "demo").hidden = !parts.length;
  slot(root, "parts").replaceChildren(...parts.flatMap(({ name, does }) => [make("dt", { text: name }), make("dd", { text: does })]));
  slot(root, "send").hidden = !takes_flags;
  slot(root, "command").textContent = [
    `curl ${location.origin}/v1/flags -H "Authorization: Bearer $TOKEN" \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '{"platform": "mine", "post_id": "1", "text": "The words of the post"}'`,
  ].join("\n");
}
