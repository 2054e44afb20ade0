// A client made from the .proto files alone, which reads refusals with the stock reader of rich gRPC errors: the main
// path and every reason of refusal that a caller can provoke.
//
// usage: node_client.mjs <proto folder> <address> <address of a server with tight limits> <address of a server that is
// over its rate>; packages come from the folder NODE_PACKAGES.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(process.env.NODE_PACKAGES + "/");
const { loadPackageDefinition } = require("@grpc/grpc-js");
const { loadSync } = require("@grpc/proto-loader");
const { Status, createChannel, createClientFactory } = require("nice-grpc");
const { BadRequest, ErrorInfo, RetryInfo, RichClientError, errorDetailsClientMiddleware } =
  require("nice-grpc-error-details");

const [protos, ...addresses] = process.argv.slice(2);
const definition = loadSync("reversi/v1/reversi.proto",
  { includeDirs: [protos], longs: String, enums: String, arrays: true });
const service = loadPackageDefinition(definition).reversi.v1.GameService.service;
const channels = addresses.map((address) => createChannel(address));
const clients = channels.map((channel) =>
  createClientFactory().use(errorDetailsClientMiddleware).create(service, channel));
const [api, limited, overRate] = clients;
const seen = new Set();

async function refused(reason, code, call, { field, metadata = {} } = {}) {
  const error = await call().then(
    (answer) => assert.fail(`${reason} was wanted, but it was accepted: ${JSON.stringify(answer)}`),
    (caught) => caught);
  assert(error instanceof RichClientError, String(error));
  const detail = (kind) => error.extra.find((found) => found.$type === kind.$type);
  const info = detail(ErrorInfo);
  assert.deepEqual([info.reason, Status[error.code], info.domain], [reason, code, "reversi.v1"]);
  for (const [key, value] of Object.entries(metadata)) assert.equal(info.metadata[key], value);
  if (field) assert.equal(detail(BadRequest).fieldViolations[0].field, field);
  if (code === "RESOURCE_EXHAUSTED") assert(detail(RetryInfo).retryDelay);
  seen.add(reason);
}

async function all(stream) {
  const messages = [];
  for await (const message of stream) messages.push(message);
  return messages;
}

async function mainPath() {
  const { variants } = await api.ListVariants({});
  assert.equal(variants[0].variant, "VARIANT_MULTIPLAYER");
  const created = await api.CreateGame({
    rules: { players: 3, board: "BOARD_10X10" },
    seats: [{}, { kind: "SEAT_KIND_OPEN" }, { displayName: "Ŵilma" }],
  });
  const gameId = created.game.gameId;
  const joined = await api.JoinGame({ gameId, displayName: "Zoë" });
  assert.equal(joined.game.state, "GAME_STATE_ACTIVE");
  const tokens = [created.seatTokens[0], joined.seatToken, created.seatTokens[2]];
  const watched = all(api.WatchGame({ gameId, afterVersion: "2" }));
  const turns = ["COLOR_BLACK", "COLOR_WHITE", "COLOR_RED"];
  const events = [];
  for (let { position, version } = joined.game; position.legalMoves.length > 0;) {
    const { event } = await api.SubmitMove({
      gameId, seatToken: tokens[turns.indexOf(position.turn)], move: position.legalMoves[0], expectedVersion: version,
    });
    events.push(event);
    ({ position, version } = event);
  }
  assert.deepEqual((await watched).map((message) => message.event), events);
  assert.equal(events.at(-1).state, "GAME_STATE_FINISHED");
  const { game } = await api.GetGame({ gameId });
  assert.deepEqual(game.result, events.at(-1).result);
  const other = await api.CreateGame({});
  const leave = { gameId: other.game.gameId, seatToken: other.seatTokens[2] };
  assert.deepEqual(await api.ResignGame(leave), await api.ResignGame(leave));
  const { event } = await api.AbortGame({ gameId: other.game.gameId, ownerToken: other.ownerToken });
  assert(event.aborted);
  const { games } = await api.ListGames({ state: "GAME_STATE_FINISHED" });
  assert(games.some((listed) => listed.gameId === gameId));
  return { gameId, tokens, version: events.at(-1).version };
}

async function refusals({ gameId, tokens, version }) {
  const fresh = await api.CreateGame({ gameId: "node-fresh" });
  const waiting = await api.CreateGame({ seats: [{ kind: "SEAT_KIND_OPEN" }, {}, {}, {}] });
  const move = (text, { expectedVersion = "1", seat = 0, of = fresh, seatToken = of.seatTokens[seat] } = {}) =>
    api.SubmitMove({ gameId: of.game.gameId, seatToken, move: text, expectedVersion });

  const bad = "INVALID_ARGUMENT", state = "FAILED_PRECONDITION", full = "RESOURCE_EXHAUSTED";
  await refused("MALFORMED_REQUEST", bad, () => api.GetGame({}), { field: "game_id" });
  await refused("UNSUPPORTED_RULES", bad, () => api.CreateGame({ rules: { players: 2 } }), { field: "rules.players" });
  await refused("BAD_SQUARE", bad, () => api.CreateGame({ rules: { blockedSquares: ["a1", "A2"] } }),
    { field: "rules.blocked_squares[1]" });
  await refused("GAME_NOT_FOUND", "NOT_FOUND", () => api.GetGame({ gameId: "no-such-game" }));
  await refused("BAD_TOKEN", "PERMISSION_DENIED", () => move("a1", { seatToken: "wrong" }));
  await refused("GAME_ID_TAKEN", "ALREADY_EXISTS", () => api.CreateGame({ gameId: "node-fresh" }));
  await refused("GAME_OVER", state, () => api.SubmitMove({ gameId, seatToken: tokens[0], move: "a5" }));
  await refused("SEAT_TAKEN", state, () => api.JoinGame({ gameId: "node-fresh" }));
  await refused("STALE_VERSION", "ABORTED", () => move("a1", { expectedVersion: "9" }),
    { metadata: { current_version: "1" } });
  await refused("GAME_NOT_STARTED", state, () => move("a1", { seat: 1, of: waiting }));
  await refused("NOT_YOUR_TURN", state, () => move("a1", { seat: 1 }));
  await refused("ILLEGAL_MOVE", state, () => move("d4"), { metadata: { move: "d4", why: "occupied" } });
  await refused("VERSION_IN_FUTURE", "OUT_OF_RANGE", () => all(api.WatchGame({ gameId, afterVersion: "10000" })),
    { metadata: { current_version: version } });

  const only = await limited.CreateGame({});
  await refused("TOO_MANY_GAMES", full, () => limited.CreateGame({}));
  const watch = limited.WatchGame({ gameId: only.game.gameId })[Symbol.asyncIterator]();
  await watch.next();
  await refused("TOO_MANY_WATCHERS", full, () => all(limited.WatchGame({ gameId: only.game.gameId })));
  await watch.return();
  await overRate.ListVariants({});
  await refused("RATE_LIMITED", full, () => overRate.ListVariants({}));
}

await refusals(await mainPath());
for (const channel of channels) channel.close();
console.log("reasons seen:", [...seen].sort().join(" "));
