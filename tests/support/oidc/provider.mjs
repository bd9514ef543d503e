// A certified OIDC provider with one confidential client, whose tokens are JWTs.
// Usage: node provider.mjs PORT
import { Provider } from "../../../node_modules/oidc-provider/lib/index.js";

const port = Number(process.argv[2]);
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: "globex-etl",
      client_secret: "known-to-globex-and-its-issuer-alone",
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    },
  ],
  scopes: ["read"],
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => "urn:deltaweb",
      getResourceServerInfo: () => ({
        scope: "read",
        audience: "deltaweb",
        accessTokenFormat: "jwt",
        accessTokenTTL: 3600,
        jwt: { sign: { alg: "RS256" } },
      }),
    },
  },
});
provider.listen(port, "127.0.0.1");
