"""What ``convert`` is asked for, as components and connections.

The components are those of Babeltrace 2, with its names: sources, a muxer, a trimmer, a
debug-info filter, filters that are named, a sink.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from .._typing import TYPE_CHECKING
from ..components.sinks.text_pretty import FIELD_NAMES, NAME_SCOPES
from ..errors import CommandError
from ..graph.plan import Connection
from .component_words import (
    ComponentWords,
    GraphWords,
    ImplicitComponent,
    Names,
    PathWords,
    Value,
    named_class,
)
from .text_arguments import known_words
from .time_range_arguments import split_range

if TYPE_CHECKING:
    from .ordered_options import Item

__all__ = ["convert_words"]

TEXT_SWITCHES = frozenset(
    {"clock_cycles", "clock_date", "clock_gmt", "clock_seconds", "no_delta"}
)
"""Options that are parameters of the sink of text."""
TEXT_OPTIONS = TEXT_SWITCHES | {"color", "fields", "names"}
"""Options that ask for that sink."""
GIVEN_ONCE = frozenset(
    {"clock_offset", "clock_offset_ns", "input_format", "output", "output_format"}
)
"""Options that are refused a second time."""
LIVE_SOURCE, TRACE_SOURCE = "source.ctf.lttng-live", "source.ctf.fs"
DEBUG_INFO = "filter.lttng-utils.debug-info"
SOURCE_OPTIONS = {
    "clock_force_correlate": "force-clock-class-origin-unix-epoch",
    "clock_offset": "clock-class-offset-s",
    "clock_offset_ns": "clock-class-offset-ns",
}
"""Options of the sources of paths, and the parameters that they set."""
WORD_FORMS = {"arg": "payload", "args": "payload", "ctx": "context"}
"""Other words of ``--names``."""


Discover = Callable[[Sequence[PathWords]], Iterable[ComponentWords]]
"""Finds the sources of some paths; their names are chosen later."""


def convert_words(items: Iterable[Item], discover: Discover) -> GraphWords:
    """Return the components and connections that a command line of ``convert`` means.

    Args:
        items: Its options and paths, in their order.
        discover: Finds the sources of the paths.

    Raises:
        CommandError: It means none, or contradicts itself.
    """
    conversion = _Conversion()
    for item in items:
        conversion.take(item)
    return conversion.finish(discover)


class _Conversion:
    # What is known of a command line while it is read.

    def __init__(self) -> None:
        self._names = Names()
        self._explicit: list[ComponentWords] = []
        self._paths: list[PathWords] = []
        self._others: list[str] = []
        self._first_params: list[str] = []
        self._current: ComponentWords | PathWords | None = None
        self._seen: dict[str, str] = {}
        self._text = ImplicitComponent("sink.text.pretty", "pretty")
        self._ctf = ImplicitComponent("sink.ctf.fs", "sink-ctf-fs")
        self._dummy = ImplicitComponent("sink.utils.dummy", "dummy")
        self._live = ImplicitComponent(LIVE_SOURCE, "lttng-live")
        self._muxer = ImplicitComponent("filter.utils.muxer", "muxer")
        self._muxer.is_wanted = True
        self._trimmer = ImplicitComponent("filter.utils.trimmer", "trimmer")
        self._events = ImplicitComponent("filter.vestige.events", "events")
        self._debug_info = ImplicitComponent(DEBUG_INFO, "debug-info")
        self._prefixes: list[str] = []
        self._patterns: list[str] = []
        self._ours: list[Value] = []

    def take(self, item: Item) -> None:
        """Take an option or a path."""
        name, value = item
        if name in GIVEN_ONCE and name in self._seen:
            option = name.replace("_", "-")
            raise CommandError(f"--{option} is given twice", exit_code=2)
        self._seen[name] = value
        if name in TEXT_OPTIONS:
            self._text.is_wanted = True
        if name in TEXT_SWITCHES:
            self._text.switches.append(_switch(name.replace("_", "-")))
        known = getattr(self, f"_take_{name or 'path'}", None)
        if known is not None:
            known(value)

    def _take_path(self, path: str) -> None:
        self._current = PathWords(path)
        self._paths.append(self._current)

    def _take_component(self, text: str) -> None:
        given, class_text = named_class(text)
        if given is None:
            name = self._names.take(class_text)
            written = f"{name}:{text}"
        else:
            name, written = self._names.keep(given), text
        self._current = ComponentWords(name, class_text, written)
        self._explicit.append(self._current)

    def _take_params(self, text: str) -> None:
        if self._current is None:
            self._first_params.append(text)
        elif isinstance(self._current, PathWords):
            self._current.params.append(text)
        else:
            self._current.add_params(text)

    def _take_log_level(self, text: str) -> None:
        # Before all components it is that of the whole command.
        if isinstance(self._current, PathWords):
            self._current.log_level = text
        elif self._current is not None:
            self._current.add_log_level(text)

    def _take_retry_duration(self, text: str) -> None:
        if self._explicit:
            self._explicit[-1].settings.append(("--retry-duration", text))
        else:
            self._others += ["--retry-duration", text]

    def _take_clock_gmt(self, _: str) -> None:
        self._trimmer.switches.append(_switch("gmt"))

    def _take_color(self, choice: str) -> None:
        self._text.add("color", choice)

    def _take_fields(self, text: str) -> None:
        words = known_words("--fields", text, {"all", *FIELD_NAMES})
        self._text.switches += _shown("field", words)

    def _take_names(self, text: str) -> None:
        words = known_words("--names", text, {"all", "none", *NAME_SCOPES})
        if {"all", "none"} <= set(words):
            raise CommandError(
                "--names: 'all' and 'none' exclude each other", exit_code=2
            )
        self._text.switches += _shown("name", [WORD_FORMS.get(w, w) for w in words])

    def _take_begin(self, text: str) -> None:
        self._add_time("begin", text)

    def _take_end(self, text: str) -> None:
        self._add_time("end", text)

    def _take_timerange(self, text: str) -> None:
        if self._trimmer.params:
            raise CommandError(
                "--timerange stands for --begin and --end: give one or the other",
                exit_code=2,
            )
        for name, bound in zip(("begin", "end"), split_range(text), strict=True):
            self._add_time(name, bound)

    def _add_time(self, name: str, text: str) -> None:
        if any(one.name == name for one in self._trimmer.params):
            raise CommandError(
                "--timerange stands for --begin and --end: give one or the other",
                exit_code=2,
            )
        self._trimmer.add(name, text)

    def _take_event(self, text: str) -> None:
        self._events.is_wanted = True
        self._patterns += split_patterns(text)

    def _take_debug_info(self, _: str) -> None:
        self._debug_info.is_wanted = True

    def _take_debug_info_dir(self, text: str) -> None:
        self._debug_info.add("debug-info-dir", text)

    def _take_debug_info_field_name(self, text: str) -> None:
        self._debug_info.add("debug-info-field-name", text)

    def _take_debug_info_target_prefix(self, text: str) -> None:
        self._prefixes.append(text)
        wanted = self._debug_info
        wanted.params = [
            one for one in wanted.params if not one.name.startswith("target-prefix")
        ]
        if len(self._prefixes) > 1 or "=" in text:
            wanted.add("target-prefixes", self._prefixes)
        else:
            wanted.add("target-prefix", text)

    def _take_debug_info_full_path(self, _: str) -> None:
        self._debug_info.is_wanted = True
        self._debug_info.switches.append(_switch("full-path"))

    def _take_debuginfod(self, _: str) -> None:
        self._ours.append(_switch("debuginfod"))

    def _take_no_demangle(self, _: str) -> None:
        self._ours.append(Value("demangle", value=False, text="no"))

    def _take_output_format(self, text: str) -> None:
        sinks = {"text": self._text, "ctf": self._ctf, "dummy": self._dummy}
        sinks[text].is_wanted = True

    def _take_input_format(self, text: str) -> None:
        self._live.is_wanted = text == "lttng-live"

    def finish(self, discover: Discover) -> GraphWords:
        """Return what was read as components and connections."""
        if "verbose" in self._seen and "debug" not in self._seen:
            self._text.switches.append(_switch("verbose"))
        if "strict" in self._seen:
            self._others.append("--strict")
        self._choose_sink()
        self._choose_debug_info()
        if self._patterns:
            self._events.add("names", self._patterns)
        sources = self._sources(discover)
        named = {
            kind: [one for one in self._explicit if one.kind == kind]
            for kind in ("source", "filter", "sink")
        }
        sinks, filters = (
            [one.words(self._names) for one in wanted if one.is_wanted]
            for wanted in (
                (self._text, self._ctf, self._dummy),
                (self._muxer, self._trimmer, self._events, self._debug_info),
            )
        )
        return self._joined(named, sources, sinks, filters)

    def _joined(
        self,
        named: dict[str, list[ComponentWords]],
        sources: list[ComponentWords],
        sinks: list[ComponentWords],
        filters: list[ComponentWords],
    ) -> GraphWords:
        all_sources = [*named["source"], *sources]
        all_sinks = [*named["sink"], *sinks]
        if not all_sources:
            raise CommandError("there is no source: give a PATH", exit_code=2)
        if len(all_sinks) > 1:
            names = " and ".join(f"'{one.name}'" for one in all_sinks)
            raise CommandError(f"there is more than one sink: {names}", exit_code=2)
        first, *others = chain = [*filters, *named["filter"], *all_sinks]
        connections = [Connection(one.name, first.name) for one in all_sources]
        pairs = zip(chain, others, strict=False)
        connections += [Connection(one.name, next_.name) for one, next_ in pairs]
        components = [*self._explicit, *sources, *sinks, *filters]
        return GraphWords(components, connections, self._others)

    def _choose_sink(self) -> None:
        output = self._seen.get("output")
        if self._ctf.is_wanted:
            if output is None:
                raise CommandError("-o ctf needs --output", exit_code=2)
            if self._text.is_wanted:
                raise CommandError(
                    "--output: which of two sinks is it for, that of text or that of "
                    "CTF?",
                    exit_code=2,
                )
        named = any(one.kind == "sink" for one in self._explicit)
        if not (self._ctf.is_wanted or self._dummy.is_wanted or named):
            self._text.is_wanted = True
        if output is not None:
            wanted = self._text if self._text.is_wanted else self._ctf
            wanted.params.append(Value.of("path", output))

    def _choose_debug_info(self) -> None:
        """Give what Babeltrace 2 has no option for to all filters of the class."""
        named = [one for one in self._explicit if one.class_name == DEBUG_INFO]
        if self._ours and not named:
            self._debug_info.is_wanted = True
        self._debug_info.switches += self._ours
        for one in named:
            for value in self._ours:
                one.add_values(value)

    def _sources(self, discover: Discover) -> list[ComponentWords]:
        """Return the sources of the paths."""
        if self._live.is_wanted:
            return self._live_source()
        if self._first_params and not self._paths:
            raise CommandError(
                "--params: there is no PATH that they are for", exit_code=2
            )
        for path in self._paths:
            path.params[:0] = self._first_params
        switches = [
            _clock_option(param, value)
            for option, param in SOURCE_OPTIONS.items()
            if (value := self._seen.get(option)) is not None
        ]
        sources = []
        for one in discover(self._paths) if self._paths else ():
            name = f"auto-disc-{one.class_name.replace('.', '-')}"
            source = ComponentWords(self._names.take(name), one.class_name)
            if switches and one.class_name == TRACE_SOURCE:
                source.add_values(*switches)
            source.follow(one)
            sources.append(source)
        if switches and all(one.class_name != TRACE_SOURCE for one in sources):
            raise CommandError("options of clocks need traces in files", exit_code=2)
        return sources

    def _live_source(self) -> list[ComponentWords]:
        if set(SOURCE_OPTIONS) & set(self._seen):
            raise CommandError("-i lttng-live has no options of clocks", exit_code=2)
        if len(self._paths) != 1:
            raise CommandError("-i lttng-live needs one URL", exit_code=2)
        self._live.add("inputs", [self._paths[0].path])
        self._live.add("session-not-found-action", "end")
        return [self._live.words(self._names)]


def split_patterns(text: str) -> list[str]:
    r"""Split at commas; ``\,`` is a comma in a pattern.

    Args:
        text: The argument of ``--event``.
    """
    parts = text.replace("\\,", "\0").split(",")
    return [part.replace("\0", ",").strip() for part in parts if part.strip()]


def _switch(name: str) -> Value:
    return Value(name, value=True, text="yes")


def _clock_option(param: str, text: str) -> Value:
    return Value(param, int(text), text) if text else _switch(param)


def _shown(what: str, words: Iterable[str]) -> list[Value]:
    """Return parameters that show what words stand for, and hide the rest."""
    defaults = {"all": "show", "none": "hide"}
    params = []
    for word in words:
        if word in defaults:
            params.append(Value(f"{what}-default", defaults[word], defaults[word]))
        else:
            params.append(_switch(f"{what}-{word}"))
    if all(one.name != f"{what}-default" for one in params):
        params.append(Value(f"{what}-default", "hide", "hide"))
    return params
