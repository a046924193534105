"""What all targets have in common."""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ragcov.concurrency import is_fault
from ragcov.errors import TargetError, described
from ragcov.samples import Sample, clean_text
from ragcov.targets.reading import Reply, read_reply

__all__ = ["Target", "Thread", "fill"]


@dataclass
class Thread:
    """One conversation with a target.

    Attributes:
        id: Unique; for targets that keep conversations by name.
        messages: What was said so far, tool calls included, as plain messages.
        retrieved: The chunks that were seen on the way to the last answer, when the answer doesn't show them.
        state: What the target needs to go on; it alone knows the form.
    """

    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    messages: list[Any] = field(default_factory=list[Any])
    retrieved: list[str] = field(default_factory=list[str])
    state: Any = None


class Target(ABC):
    """Asks one kind of system.

    Attributes:
        remembers: Whether later turns of a conversation know of the earlier ones.
    """

    remembers: bool = False

    @abstractmethod
    async def ask(self, input: Any, thread: Thread) -> Any:
        """What the system returns for an input, as it is."""

    async def answer(self, input: Any, thread: Thread | None = None) -> Reply:
        """Asks the system, in a new conversation or in one that goes on.

        Raises:
            TargetError: When it raised, returned nothing, or something that holds no answer.
        """
        thread = thread or Thread()
        thread.retrieved = []
        try:
            returned = await self.ask(input, thread)
        except TargetError:
            raise
        except BaseException as error:
            if not is_fault(error):
                raise
            raise TargetError(f"the target raised {described(error)}") from error
        reply = read_reply(returned)
        if reply.context is None and thread.retrieved:
            reply = msgspec.structs.replace(reply, context=[clean_text(chunk) for chunk in thread.retrieved])
        thread.messages.extend(reply.messages(input))
        return reply


def fill(sample: Sample, reply: Reply) -> Sample:
    """The sample with the reply's output and context; what the reply lacks stays as the data brought it."""
    return msgspec.structs.replace(
        sample,
        output=sample.output if reply.output is None else reply.output,
        context=sample.context if reply.context is None else reply.context,
    )
