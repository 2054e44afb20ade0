"""Traffic whose every call is written down, so that the metrics can be held against it."""

import collections
import itertools
import random

import grpc

from server import Client, Refusal, api, wait_for

# As gRPC's metrics spell the codes that occur here.
CODES = {
    grpc.StatusCode.OK: "OK", grpc.StatusCode.CANCELLED: "Canceled",
    grpc.StatusCode.INVALID_ARGUMENT: "InvalidArgument", grpc.StatusCode.NOT_FOUND: "NotFound",
    grpc.StatusCode.ALREADY_EXISTS: "AlreadyExists", grpc.StatusCode.PERMISSION_DENIED: "PermissionDenied",
    grpc.StatusCode.RESOURCE_EXHAUSTED: "ResourceExhausted",
    grpc.StatusCode.FAILED_PRECONDITION: "FailedPrecondition", grpc.StatusCode.ABORTED: "Aborted",
    grpc.StatusCode.OUT_OF_RANGE: "OutOfRange", grpc.StatusCode.UNAVAILABLE: "Unavailable",
}
VARIANTS = {api.VARIANT_MULTIPLAYER: "multiplayer", api.VARIANT_STANDARD: "standard", api.VARIANT_ROLIT: "rolit",
            api.VARIANT_ROYAL: "royal"}
RULES = [
    api.Rules(players=3), api.Rules(players=4, board=api.BOARD_OCTAGON), api.Rules(variant=api.VARIANT_STANDARD),
    api.Rules(variant=api.VARIANT_ROLIT, players=2), api.Rules(variant=api.VARIANT_ROYAL, players=5),
]


class Traffic:
    """Calls, and what the metrics must say of them: counters by their labels, without zeros."""

    def __init__(self, address, *others, seed=1):
        self.clients = itertools.cycle([Client(each) for each in (address, *others)])
        self.address = address
        self.random = random.Random(seed)
        self.started = collections.Counter()
        self.handled = collections.Counter()
        self.sent = collections.Counter()
        self.refused = collections.Counter()
        self.retries = collections.Counter()
        self.created = collections.Counter()
        self.finished = collections.Counter()
        self.moves = collections.Counter()
        self.puts = 0
        self.events = 0

    @property
    def client(self):
        """Another one each time, where there are several servers."""
        return next(self.clients)

    def call(self, method, request, retry=False):
        """None if it is refused."""
        self.started[method,] += 1
        try:
            answer = self.client.call(method, request)
        except Refusal as refusal:
            self.handled[method, CODES[refusal.code]] += 1
            self.refused[method, refusal.reason] += 1
            return None
        self.handled[method, "OK"] += 1
        self.sent[method,] += 1
        if retry:
            self.retries[method,] += 1
        elif method not in ("GetGame", "ListGames", "ListVariants"):
            self.puts += 1
        return answer

    def create(self, rules=None, **more):
        return self.created_by(api.CreateGameRequest(rules=rules, **more))

    def created_by(self, request):
        created = self.call("CreateGame", request)
        game = created.game
        self.created[VARIANTS[game.rules.variant], str(game.rules.players)] += 1
        return created

    def over(self, created, reason):
        game = created.game
        self.finished[VARIANTS[game.rules.variant], str(game.rules.players), reason] += 1

    def move(self, created, token, move, version, retry=False):
        """A move of a game of which the server knows."""
        before = collections.Counter(self.refused)
        answer = self.call("SubmitMove", api.SubmitMoveRequest(game_id=created.game.game_id, seat_token=token, move=move,
                                                               expected_version=version), retry)
        variant = VARIANTS[created.game.rules.variant]
        if answer is None:
            (_, reason), = self.refused - before
            self.moves[variant, reason] += 1
        elif not retry:
            self.moves[variant, "accepted"] += 1
        return answer

    def play(self, rules, watchers=0):
        """A whole game by random moves, with one retry and one refusal of every kind on the way."""
        created = self.create(rules)
        tokens = created.seat_tokens
        watches = [self.client.watch(api.WatchGameRequest(game_id=created.game.game_id)) for _ in range(watchers)]
        for watch in watches:
            next(watch)  # the snapshot
        position, version = created.game.position, created.game.version
        last = None
        while position.legal_moves:
            token = tokens[position.turn - 1]
            move = self.random.choice(position.legal_moves)
            if version == 3:
                self.wrong_moves(created, position, version, last)
            answer = self.move(created, token, move, version)
            last = token, move, version
            position, version = answer.event.position, answer.event.version
        self.over(created, "completed")
        self.move(created, tokens[0], "a1", version)  # GAME_OVER
        for watch in watches:
            self.watched(1 + sum(1 for _ in watch), "OK", version - 1)
        return created

    def wrong_moves(self, created, position, version, last):
        tokens = created.seat_tokens
        turn = position.turn - 1
        token, move, at = last
        self.move(created, token, move, at, retry=True)
        self.move(created, tokens[turn], position.legal_moves[0], version - 1)  # STALE_VERSION
        self.move(created, tokens[turn - 1], position.legal_moves[0], version)  # NOT_YOUR_TURN
        self.move(created, "x" * 43, position.legal_moves[0], version)  # BAD_TOKEN
        self.move(created, tokens[turn], "e5", version)  # ILLEGAL_MOVE: a centre square of every board here

    def watched(self, messages, code, events):
        self.started["WatchGame",] += 1
        self.handled["WatchGame", code] += 1
        self.sent["WatchGame",] += messages
        self.events += events

    def refused_calls(self):
        """Calls that find no game or never get so far."""
        absent = "nosuchgame"
        self.call("GetGame", api.GetGameRequest(game_id=absent))
        self.call("GetGame", api.GetGameRequest())
        self.call("SubmitMove", api.SubmitMoveRequest(game_id=absent, seat_token="t", move="a1", expected_version=1))
        self.call("SubmitMove", api.SubmitMoveRequest(game_id=absent, seat_token="t", move="a0", expected_version=1))
        self.call("SubmitMove", api.SubmitMoveRequest(game_id=absent, seat_token="t", move="a1" * 40, expected_version=1))
        for reason in ("GAME_NOT_FOUND", "BAD_SQUARE", "MALFORMED_REQUEST"):
            self.moves["unknown", reason] += 1
        self.call("CreateGame", api.CreateGameRequest(rules=api.Rules(players=2)))
        self.call("CreateGame", api.CreateGameRequest(opening_moves=["a1"]))
        self.call("ListGames", api.ListGamesRequest(page_token="?"))
        self.call("ListGames", api.ListGamesRequest())
        self.call("ListVariants", api.ListVariantsRequest())
        try:
            for _ in self.client.watch(api.WatchGameRequest(game_id=absent)):
                raise AssertionError("there is a game called " + absent)
        except grpc.RpcError:
            self.watched(0, "NotFound", 0)
            self.refused["WatchGame", "GAME_NOT_FOUND"] += 1

    def leavings(self):
        """Games that end otherwise than by play."""
        created = self.create(api.Rules(players=3))
        name = created.game.game_id
        for token in created.seat_tokens[:2]:
            self.call("ResignGame", api.ResignGameRequest(game_id=name, seat_token=token))
        self.call("ResignGame", api.ResignGameRequest(game_id=name, seat_token=created.seat_tokens[0]), retry=True)
        self.call("ResignGame", api.ResignGameRequest(game_id=name, seat_token=created.seat_tokens[2]))  # GAME_OVER
        self.over(created, "resignation")
        created = self.create(api.Rules(variant=api.VARIANT_ROLIT))
        name = created.game.game_id
        self.call("AbortGame", api.AbortGameRequest(game_id=name, owner_token=created.seat_tokens[0]))  # BAD_TOKEN
        self.call("AbortGame", api.AbortGameRequest(game_id=name, owner_token=created.owner_token))
        self.over(created, "aborted")

    def joining(self):
        request = api.CreateGameRequest(request_id="the-first-creation", seats=[api.Seat(kind=api.SEAT_KIND_OPEN)] + [api.Seat()] * 3)
        created = self.created_by(request)
        self.call("CreateGame", request, retry=True)
        name = created.game.game_id
        self.move(created, created.seat_tokens[1], "a1", 1)  # GAME_NOT_STARTED
        self.call("JoinGame", api.JoinGameRequest(game_id=name, request_id="join-of-caller-no-1"))
        self.call("JoinGame", api.JoinGameRequest(game_id=name, request_id="join-of-caller-no-1"), retry=True)
        self.call("JoinGame", api.JoinGameRequest(game_id=name, request_id="join-of-caller-no-2"))  # SEAT_TAKEN
        self.call("CreateGame", api.CreateGameRequest(game_id=name))  # GAME_ID_TAKEN
        self.call("AbortGame", api.AbortGameRequest(game_id=name, owner_token=created.owner_token))
        self.over(created, "aborted")

    def vanishing(self, count):
        """Watchers of a game that never moves, whose connections are gone of a sudden. The game is left."""
        created = self.create(api.Rules(players=4))
        for _ in range(count):
            with Client(self.address) as own:
                next(own.watch(api.WatchGameRequest(game_id=created.game.game_id)))
            self.watched(1, "Canceled", 0)
        return created

    def timing_out(self, metrics):
        """A move made for a seat whose time is over, and a game that ends because nobody moves."""
        played = self.create(api.Rules(variant=api.VARIANT_STANDARD), turn_limit={"seconds": 1},
                             timeout_action=api.TIMEOUT_ACTION_PLAY)
        left = self.create(api.Rules(variant=api.VARIANT_STANDARD), turn_limit={"seconds": 1})
        wait_for(lambda: metrics()("reversi_moves_total", outcome="on_timeout") >= 1 and
                 metrics()("reversi_games_finished_total", reason="timeout") >= 1)
        self.call("AbortGame", api.AbortGameRequest(game_id=played.game.game_id, owner_token=played.owner_token))
        on_timeout = metrics()("reversi_moves_total", outcome="on_timeout")
        self.moves["standard", "on_timeout"] += on_timeout
        self.puts += on_timeout + 1
        self.over(played, "aborted")
        self.over(left, "timeout")
