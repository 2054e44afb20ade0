"""A client made from the .proto files alone: the main path and every reason of refusal that a caller can provoke.

usage: python_client.py <folder of generated code> <address> <address of a server with tight limits> <address of a
server that is over its rate>
"""
import sys

sys.path.insert(0, sys.argv[1])

import google  # noqa: E402

# The generated google.rpc stands beside the installed google.protobuf.
google.__path__.append(sys.argv[1] + "/google")

import grpc  # noqa: E402
from google.rpc import error_details_pb2, status_pb2  # noqa: E402
from reversi.v1 import reversi_pb2 as v1, reversi_pb2_grpc  # noqa: E402

SEEN = set()


def service(address):
    return reversi_pb2_grpc.GameServiceStub(grpc.insecure_channel(address))


def details(error):
    """The details of a refusal by their type; the form that every one must have is asserted."""
    packed = dict(error.trailing_metadata())["grpc-status-details-bin"]
    status = status_pb2.Status.FromString(packed)
    assert status.code == error.code().value[0], status
    assert status.message == error.details() != "", status
    found = {}
    for detail in status.details:
        for kind in (error_details_pb2.ErrorInfo, error_details_pb2.BadRequest, error_details_pb2.RetryInfo):
            if detail.Is(kind.DESCRIPTOR):
                found[kind] = kind()
                assert detail.Unpack(found[kind])
    assert len(found) == len(status.details), status
    assert found[error_details_pb2.ErrorInfo].domain == "reversi.v1"
    return found


def refused(reason, code, call, request, field=None, metadata=()):
    try:
        answer = call(request)
        answer = list(answer) if hasattr(answer, "cancel") else answer
    except grpc.RpcError as error:
        found = details(error)
        info = found[error_details_pb2.ErrorInfo]
        assert (info.reason, error.code().name) == (reason, code), (info, error)
        assert all(info.metadata.get(key) for key in metadata), info
        if field is not None:
            assert found[error_details_pb2.BadRequest].field_violations[0].field == field, found
        if code == "RESOURCE_EXHAUSTED":
            assert found[error_details_pb2.RetryInfo].retry_delay.ToNanoseconds() > 0
        SEEN.add(reason)
        return info
    raise AssertionError(f"{reason} was wanted, but it was accepted: {answer}")


def play(api, created):
    """Plays the first legal move until the end; the watcher must be told what the answers were."""
    game, version, events = created.game, created.game.version, []
    watch = api.WatchGame(v1.WatchGameRequest(game_id=game.game_id))
    assert next(watch).snapshot == game
    position = game.position
    while position.legal_moves:
        answer = api.SubmitMove(v1.SubmitMoveRequest(
            game_id=game.game_id, seat_token=created.seat_tokens[position.turn - 1], move=position.legal_moves[0],
            expected_version=version))
        events.append(answer.event)
        position, version = answer.event.position, answer.event.version
    assert [message.event for message in watch] == events
    assert events[-1].state == v1.GAME_STATE_FINISHED and events[-1].HasField("result")
    end = api.GetGame(v1.GetGameRequest(game_id=game.game_id)).game
    assert end.result == events[-1].result and len(end.moves) == len(events)
    return events


def main_path(api):
    assert [info.variant for info in api.ListVariants(v1.ListVariantsRequest()).variants][0] == v1.VARIANT_MULTIPLAYER
    rules = v1.Rules(board=v1.BOARD_OCTAGON, players=3)
    open_seats = [v1.Seat(), v1.Seat(kind=v1.SEAT_KIND_OPEN), v1.Seat(display_name="Ŵilma")]
    created = api.CreateGame(v1.CreateGameRequest(rules=rules, seats=open_seats, request_id="python-request-0001"))
    joined = api.JoinGame(v1.JoinGameRequest(game_id=created.game.game_id, display_name="Zoë"))
    assert joined.color == v1.COLOR_WHITE and joined.game.state == v1.GAME_STATE_ACTIVE
    created.seat_tokens[1] = joined.seat_token
    created.game.CopyFrom(joined.game)
    events = play(api, created)
    assert api.ListGames(v1.ListGamesRequest(state=v1.GAME_STATE_FINISHED)).games[0].game_id == created.game.game_id
    resigned = api.CreateGame(v1.CreateGameRequest())
    leave = v1.ResignGameRequest(game_id=resigned.game.game_id, seat_token=resigned.seat_tokens[2])
    assert api.ResignGame(leave) == api.ResignGame(leave)
    abort = v1.AbortGameRequest(game_id=resigned.game.game_id, owner_token=resigned.owner_token)
    assert api.AbortGame(abort).event.HasField("aborted")
    return created, events


def refusals(api, limited, over_rate, created, events):
    game_id, token = created.game.game_id, created.seat_tokens[0]
    fresh = api.CreateGame(v1.CreateGameRequest(game_id="python-fresh"))
    waiting = api.CreateGame(v1.CreateGameRequest(seats=[v1.Seat(kind=v1.SEAT_KIND_OPEN)] + [v1.Seat()] * 3))

    def move(text, version=1, seat=0, of=fresh, token=None):
        return v1.SubmitMoveRequest(game_id=of.game.game_id, seat_token=token or of.seat_tokens[seat], move=text,
                                    expected_version=version)

    bad = "INVALID_ARGUMENT"
    refused("MALFORMED_REQUEST", bad, api.GetGame, v1.GetGameRequest(), "game_id")
    refused("UNSUPPORTED_RULES", bad, api.CreateGame, v1.CreateGameRequest(rules=v1.Rules(players=2)), "rules.players")
    refused("BAD_SQUARE", bad, api.CreateGame, v1.CreateGameRequest(rules=v1.Rules(blocked_squares=["a1", "A2"])),
            "rules.blocked_squares[1]")
    refused("GAME_NOT_FOUND", "NOT_FOUND", api.GetGame, v1.GetGameRequest(game_id="no-such-game"))
    refused("BAD_TOKEN", "PERMISSION_DENIED", api.SubmitMove, move("a1", token="wrong"))
    refused("GAME_ID_TAKEN", "ALREADY_EXISTS", api.CreateGame, v1.CreateGameRequest(game_id="python-fresh"))
    state = "FAILED_PRECONDITION"
    refused("GAME_OVER", state, api.SubmitMove,
            v1.SubmitMoveRequest(game_id=game_id, seat_token=token, move="a5"), metadata=["state"])
    refused("SEAT_TAKEN", state, api.JoinGame, v1.JoinGameRequest(game_id="python-fresh"))
    stale = refused("STALE_VERSION", "ABORTED", api.SubmitMove, move("a1", version=9))
    assert stale.metadata["current_version"] == "1"
    refused("GAME_NOT_STARTED", state, api.SubmitMove, move("a1", seat=1, of=waiting))
    refused("NOT_YOUR_TURN", state, api.SubmitMove, move("a1", seat=1), metadata=["turn"])
    illegal = refused("ILLEGAL_MOVE", state, api.SubmitMove, move("d4"))
    assert dict(illegal.metadata) == {"move": "d4", "why": "occupied"}, illegal
    future = refused("VERSION_IN_FUTURE", "OUT_OF_RANGE", api.WatchGame,
                     v1.WatchGameRequest(game_id=game_id, after_version=10000))
    assert future.metadata["current_version"] == str(events[-1].version)

    full = "RESOURCE_EXHAUSTED"
    only = limited.CreateGame(v1.CreateGameRequest()).game
    refused("TOO_MANY_GAMES", full, limited.CreateGame, v1.CreateGameRequest())
    watch = limited.WatchGame(v1.WatchGameRequest(game_id=only.game_id))
    next(watch)
    refused("TOO_MANY_WATCHERS", full, limited.WatchGame, v1.WatchGameRequest(game_id=only.game_id))
    watch.cancel()
    over_rate.ListVariants(v1.ListVariantsRequest())
    refused("RATE_LIMITED", full, over_rate.ListVariants, v1.ListVariantsRequest())


def main():
    api, limited, over_rate = (service(address) for address in sys.argv[2:5])
    created, events = main_path(api)
    refusals(api, limited, over_rate, created, events)
    print("reasons seen:", " ".join(sorted(SEEN)))


main()
