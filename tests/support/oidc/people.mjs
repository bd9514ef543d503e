// A certified OIDC provider with people who sign in to deltaweb.
// Usage: node people.mjs PORT REDIRECT_URI BACKCHANNEL_LOGOUT_URI POST_LOGOUT_URI
import { Provider } from "../../../node_modules/oidc-provider/lib/index.js";

const [port, redirectUri, logoutUri, afterUri] = process.argv.slice(2);
const people = {
  ann: { groups: ["data", "ops"], email: "ann@example.com", email_verified: true },
  ben: { groups: ["data"], email: "ben@example.com", email_verified: false },
  eve: { email: "eve@example.org", email_verified: true },
};
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: "deltaweb",
      client_secret: "known-to-deltaweb-and-its-provider-alone",
      redirect_uris: [redirectUri],
      post_logout_redirect_uris: [afterUri],
      backchannel_logout_uri: logoutUri,
      backchannel_logout_session_required: true,
    },
  ],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["groups", "preferred_username"] },
  conformIdTokenClaims: false,
  features: {
    devInteractions: { enabled: true },
    backchannelLogout: { enabled: true },
    rpInitiatedLogout: { enabled: true },
  },
  // The logout tokens go to a program of this machine.
  fetch: (url, { dispatcher, ...options }) => fetch(url, options),
  pkce: { required: () => true },
  cookies: { keys: ["a key of tests"] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, preferred_username: id, ...people[id] }),
  }),
  loadExistingGrant: async (ctx) => {
    const { client, session, provider: own } = ctx.oidc;
    const grant = new own.Grant({ clientId: client.clientId, accountId: session.accountId });
    grant.addOIDCScope("openid email profile");
    await grant.save();
    return grant;
  },
});
provider.listen(Number(port), "127.0.0.1");
