"""A live experiment behind HTTP: `uvicorn app:app --app-dir experiments/live_service --workers 4`.

The file of the experiment is `LIVE_LOG`, or `experiment.sqlite`. Restart it at will.
"""

import os

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from live_log import LiveLog
from pydantic import BaseModel

import jaxbandits as jb

#: The arguments of the session: this is what you change, together with the file.
EXPERIMENT = {"algorithm": jb.UGapEc(epsilon=0.01, delta=0.05), "arms": 4, "key": 1}


class Ask(BaseModel):
    """A request for pulls; the token makes it safe to send it twice."""

    n: int = 1
    token: str | None = None


class Tell(BaseModel):
    """Rewards of pulls."""

    ids: list[str]
    rewards: list[float]


class Forget(BaseModel):
    """Pulls whose rewards will not come."""

    ids: list[str]


log = LiveLog(os.environ.get("LIVE_LOG", "experiment.sqlite"), **EXPERIMENT)
app = FastAPI()


@app.exception_handler(jb.UsageError)
def refuse(request: Request, error: jb.UsageError) -> JSONResponse:
    """Answer a message that cannot be."""
    del request
    return JSONResponse({"detail": str(error)}, status_code=422)


@app.post("/ask")
def ask(message: Ask) -> list[dict[str, str | int]]:
    """Hand out pulls: show the arm to a visitor, and keep the id."""
    return log.ask(message.n, message.token)


@app.post("/tell")
def tell(message: Tell) -> list[bool]:
    """Take rewards."""
    return log.tell(message.ids, message.rewards)


@app.post("/forget")
def forget(message: Forget) -> list[bool]:
    """Give up pulls."""
    return log.forget(message.ids)


@app.get("/state")
def state() -> dict[str, object]:
    """Return what is known."""
    return log.read(
        lambda session: {
            "done": session.done,
            "recommended": session.recommendation.nonzero()[0].tolist(),
            "pulls": session.pulls.tolist(),
            "means": [None if mean != mean else mean for mean in session.means.tolist()],
            "in_flight": [pull.id for pull in session.in_flight],
        }
    )
