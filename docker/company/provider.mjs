// An OpenID Connect provider (the certified oidc-provider) for trying out: any password is right.
// Usage: node provider.mjs SETTINGS.json, with `issuer`, `address`, `port`, `client` and `people`.
import { readFileSync } from "node:fs";
import { Provider } from "oidc-provider";

const { issuer, address, port, client, people } = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const provider = new Provider(issuer, {
  clients: [client],
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
  cookies: { keys: ["a key for trying out"] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, preferred_username: id, ...people[id] }),
  }),
  // There is no page of consent, because the company runs both sides.
  loadExistingGrant: async (ctx) => {
    const { client: asking, session, provider: own } = ctx.oidc;
    const grant = new own.Grant({ clientId: asking.clientId, accountId: session.accountId });
    grant.addOIDCScope("openid email profile");
    await grant.save();
    return grant;
  },
});
provider.proxy = issuer.startsWith("https:");
provider.listen(port, address);
