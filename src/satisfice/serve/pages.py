"""The pages: the list of studies, a study that updates itself, its bench, the sheet to print, and what can be downloaded."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import jinja2
import optuna
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from satisfice.errors import BadInput, NoSurvivors, SatisficeError, SpaceExhausted, StorageFailed
from satisfice.extras import load_extra
from satisfice.numerals import finite
from satisfice.report import gate, text
from satisfice.report import page as report
from satisfice.serve.api import WAITING, refusal_of
from satisfice.serve.forms import Form, Wrong, question, results, table, tell
from satisfice.serve.openapi import MOST
from satisfice.serve.studies import Opened, Studies, named, reference
from satisfice.serve.view import experiments, look, requirements, status, waiting
from satisfice.study.gate_replay import gate_answer_of
from satisfice.study.open_search import open_search
from satisfice.study.sheet import excel_sheet, result_columns, sheet, table_text
from satisfice.study.snapshot import parameter_names, value_names
from satisfice.study.warm_start import add_earlier, read_earlier

HERE = Path(__file__).parent
LISTENERS = 40  # pages that may be open at once
LOOK = 1.0  # seconds between two looks at a study that somebody watches
QUIET = 15.0  # seconds without news, and a line says that the connection lives
ROWS = 500  # experiments that a page lists
CHUNK = 4  # experiments that the bench offers to suggest
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
NOTES = {
    "saved": "Saved.",
    "corrected": "Corrected. The log below keeps what it was before.",
    "earlier": "The earlier data is in.",
}


class Pages:
    """The pages of all studies.

    Parameters
    ----------
    studies
        The studies.
    command
        Gives the command line that goes on with a study.
    """

    def __init__(self, studies: Studies, command: Callable[[optuna.Study], str]) -> None:
        self._studies, self._command = studies, command
        self._listeners = 0
        self.closing = asyncio.Event()
        folders = [HERE / "templates", Path(report.__file__).parent]
        self._templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(folders), autoescape=True, trim_blocks=True, lstrip_blocks=True, auto_reload=False,
            undefined=jinja2.StrictUndefined,
        )  # fmt: skip
        self._templates.filters |= {"shown": text.shown, "reference": reference, "when": _when}
        # all that can be sent is read now: no address is ever looked up on the disk
        files = {each.name: each.read_bytes() for each in (HERE / "static").iterdir() if each.suffix in TYPES}
        files["plots.css"] = (folders[1] / "plots.css").read_bytes()
        self._files = files

    def routes(self) -> list[Route]:
        """Return the routes of all pages."""
        at, get, post = "/studies/{study}", ["GET"], ["POST"]
        table = [
            ("/", self._list, get), ("/new", self._new, [*get, *post]), ("/static/{file}", self._static, get),
            (at, self._study, get), (f"{at}/live", self._live, get), (f"{at}/events", self._events, get),
            (f"{at}/ask", self._ask, post), (f"{at}/results", self._results, post), (f"{at}/correct", self._correct, post),
            (f"{at}/earlier", self._earlier, post), (f"{at}/sheet", self._sheet, get),
            (f"{at}/download/{{file}}", self._download, get),
        ]  # fmt: skip
        return [Route(path, _told(self, handler), methods=methods) for path, handler, methods in table]

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        """Return a page made of a template."""
        return Response(
            self._templates.get_template(template).render(values), status, media_type="text/html; charset=utf-8"
        )

    async def _static(self, request: Request) -> Response:
        name = request.path_params["file"]
        if name not in self._files:
            return self.page("message.html", 404, title="There is no such page.", words="")
        headers = {"Cache-Control": "max-age=300"}
        return Response(self._files[name], 200, headers, media_type=TYPES[Path(name).suffix])

    async def _list(self, request: Request) -> Response:
        rows = await self._studies.thread(self._studies.listed)
        return self.page("list.html", rows=rows, text=text, where=self._studies.where)

    async def _new(self, request: Request) -> Response:
        if request.method == "GET":
            return self.page("new.html", form=None, problems={}, rows=3, wanted=1)
        content = await request.body()

        def make() -> str:
            given = question(Form(content))
            if given["name"] in optuna.get_all_study_names(self._studies.storage):
                raise Wrong({"name": "There is a study of this name already."})
            try:
                open_search(given.pop("name"), self._studies.storage, given.pop("space"), given.pop("target"), **given)
            except BadInput as problem:
                raise Wrong({"": str(problem)}) from None
            return Form(content)["name"]

        try:
            name = await self._studies.thread(make)
        except Wrong as problem:
            form = Form() if "" in problem.problems and not content.isascii() else Form(content)
            rows = max(3, len(form.all("p-name")))
            return self.page(
                "new.html", 422, form=form, problems=problem.problems, rows=rows, wanted=max(1, len(form.all("target")))
            )
        return RedirectResponse(f"/studies/{reference(name)}", 303)

    async def _study(
        self, request: Request, form: Form | None = None, problems: dict[str, str] | None = None
    ) -> Response:
        opened = await self._opened(request)
        version, live = await self._studies.kept(opened, "live", lambda: self._rendered(opened))
        if form is not None:  # with what was typed, and what is wrong with it
            async with opened.thinking:
                live = await self._studies.thread(lambda: self._rendered(opened, form, problems))
        name = opened.study.study_name
        return self.page(
            "study.html", 200 if form is None else 422, name=name, live=Markup(live), version=version,  # noqa: S704
            at=f"/studies/{reference(name)}", note=NOTES.get(request.query_params.get("note", ""), ""),
            command=await self._studies.thread(lambda: self._command(opened.study)), key=secrets.token_urlsafe(16),
            problems=problems or {}, form=form, columns=[] if opened.is_gate else result_columns(opened.config),
            can_ask=opened.search is not None, is_gate=opened.is_gate,
            parameters=[] if opened.search is None else list(opened.search.space.parameters),
        )  # fmt: skip

    async def _live(self, request: Request) -> Response:
        opened = await self._opened(request)
        version, live = await self._studies.kept(opened, "live", lambda: self._rendered(opened))
        return Response(live, 200, {"X-Version": version}, media_type="text/html; charset=utf-8")

    def _rendered(self, opened: Opened, form: Form | None = None, problems: dict[str, str] | None = None) -> str:
        """The part of a study's page that changes, as it is now."""
        name = opened.study.study_name
        people, programs = waiting(opened)
        if opened.is_gate:
            return self._judged(opened, programs)
        try:
            seen = look(opened)
        except BadInput as problem:  # one whose parameters are only known from trials, before the first of them
            return self._templates.get_template("nothing.html").render(words=str(problem), programs=programs)
        shown = [each for each in seen.evaluations if each.state != "cancelled" or each.number in experiments(opened)]
        return self._templates.get_template("live.html").render(
            seen=seen, answer=seen.answer, text=text, goal=text.goal(seen.config), pictures=report.pictures(seen),
            requirements=requirements(opened, seen), people=people, programs=programs,
            names=parameter_names(seen.space, shown), rows=shown[: -ROWS - 1 : -1], total=len(shown),
            told=value_names(shown),
            log=[] if opened.search is None else opened.search.log()[::-1], by_hand=experiments(opened), most=MOST, chunk=CHUNK,
            columns=result_columns(seen.config), at=f"/studies/{reference(name)}", can_ask=opened.search is not None,
            form=form, problems=problems or {}, key=secrets.token_urlsafe(16),
            firsts={each.number: each.repeats for each in seen.evaluations},
        )  # fmt: skip

    def _judged(self, opened: Opened, programs: list[dict[str, Any]]) -> str:
        answer = gate_answer_of(opened.study)
        assert answer is not None  # noqa: S101  # its config has just been read
        drawn = [each for each in answer.requirements if each.evidence]
        pictures = [
            (str(each.requirement), gate.evidence_picture(each), gate.evidence_picture(each, 420.0)) for each in drawn
        ]
        return self._templates.get_template("judged.html").render(
            answer=answer, headline=gate.HEADLINES[answer.verdict], pictures=pictures, programs=programs
        )

    async def _events(self, request: Request) -> Response:
        opened = await self._opened(request)
        if self._listeners >= LISTENERS:
            return self.page("message.html", 503, title="Too many pages are open.", words="Close some of them.")
        return StreamingResponse(
            self._news(opened.study.study_name), 200, {"X-Accel-Buffering": "no"}, media_type="text/event-stream"
        )

    async def _news(self, name: str) -> AsyncIterator[str]:
        """The versions of a study, as server-sent events."""
        self._listeners += 1
        try:
            last, silent = "", 0.0
            yield "retry: 2000\n\n"
            while not self.closing.is_set():
                try:
                    opened = await self._studies.get(name)
                    version = await self._studies.version(opened)
                except StorageFailed:  # the database may come back
                    version = last
                except SatisficeError:
                    yield "event: gone\ndata: {}\n\n"
                    return
                if version != last:
                    yield f"event: version\ndata: {version}\n\n"
                    last, silent = version, 0.0
                elif silent >= QUIET:
                    yield ": still here\n\n"
                    silent = 0.0
                try:
                    await asyncio.wait_for(self.closing.wait(), LOOK)
                except TimeoutError:
                    silent += LOOK
        finally:
            self._listeners -= 1

    async def _ask(self, request: Request) -> Response:
        opened, form = await self._opened(request), Form(await request.body())
        search = opened.by_hand

        def ask() -> None:
            n = form.number("n", "How many")
            if not isinstance(n, int) or not 1 <= n <= MOST:
                raise Wrong({"n": f"Ask for 1 to {MOST} experiments."})
            if len(search.waiting()) + n > WAITING:
                raise Wrong({"n": f"At most {WAITING:,} experiments may wait for their results."})
            try:
                search.ask(n, by=form["by"], key=form["key"][:100])
            except (SpaceExhausted, NoSurvivors) as problem:
                raise Wrong({"n": str(problem)}) from None

        try:
            async with opened.thinking:
                await self._studies.thread(ask)
        except Wrong as problem:
            return await self._study(request, form, problem.problems)
        return RedirectResponse(f"/studies/{reference(opened.study.study_name)}#bench", 303)

    async def _results(self, request: Request) -> Response:
        return await self._tell(request, correct=False)

    async def _correct(self, request: Request) -> Response:
        return await self._tell(request, correct=True)

    async def _tell(self, request: Request, correct: bool) -> Response:
        opened, form = await self._opened(request), Form(await request.body())
        search = opened.by_hand

        def write() -> None:
            tell(search, results(search, form, correct), form["by"], correct)

        try:
            async with opened.writing:
                await self._studies.thread(write)
        except Wrong as problem:
            return await self._study(request, form, problem.problems)
        place = "corrected" if correct else "saved"
        return RedirectResponse(f"/studies/{reference(opened.study.study_name)}?note={place}", 303)

    async def _earlier(self, request: Request) -> Response:
        opened, form = await self._opened(request), Form(await request.body())
        search = opened.by_hand

        def add() -> None:
            rows = table(form["earlier"])
            try:
                read_earlier(search.config, rows)
                add_earlier(search.study, search.config, rows)
            except BadInput as problem:
                raise Wrong({"earlier": str(problem)}) from None

        try:
            async with opened.writing:
                await self._studies.thread(add)
        except Wrong as problem:
            return await self._study(request, form, problem.problems)
        return RedirectResponse(f"/studies/{reference(opened.study.study_name)}?note=earlier", 303)

    async def _sheet(self, request: Request) -> Response:
        opened = await self._opened(request)
        asked = await self._studies.thread(opened.by_hand.waiting)
        name = opened.study.study_name
        return self.page(
            "sheet.html", name=name, asked=asked, columns=result_columns(opened.config), goal=text.goal(opened.config),
            parameters=list(opened.by_hand.space.parameters), at=f"/studies/{reference(name)}",
        )  # fmt: skip

    async def _download(self, request: Request) -> Response:
        opened = await self._opened(request)
        study = opened.study
        makes: dict[str, tuple[str, Callable[[], str | bytes]]] = {
            "evaluations.csv": ("text/csv; charset=utf-8", lambda: table_text(study)),
            "study.json": ("application/json", lambda: _whole(opened)),
            "sheet.csv": ("text/csv; charset=utf-8", lambda: sheet(opened.by_hand, opened.by_hand.waiting())),
            "sheet.xlsx": ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", lambda: _excel(opened)),
            "report.html": ("text/html; charset=utf-8", lambda: report.html(look(opened), self._command(study))),
        }
        if opened.is_gate:
            answer = await self._studies.thread(lambda: gate_answer_of(study))
            makes = {
                "report.html": (makes["report.html"][0], lambda: gate.html(answer, study.study_name) if answer else "")
            }
        found = makes.get(request.path_params["file"])
        if found is None:
            return self.page("message.html", 404, title="There is no such page.", words="")
        kind, make = found
        async with opened.thinking:
            content = await self._studies.thread(make)
        name = "".join(each if each.isalnum() and each.isascii() else "-" for each in study.study_name)[:60]
        headers = {"Content-Disposition": f'attachment; filename="{name}-{request.path_params["file"]}"'}
        return Response(
            content.encode(errors="replace") if isinstance(content, str) else content, 200, headers, media_type=kind
        )

    async def _opened(self, request: Request) -> Opened:
        return await self._studies.get(named(request.path_params["study"]))

    def trouble(self, problem: Exception) -> Response:
        """Return the page of an error."""
        if isinstance(problem, Wrong):
            return self.page("message.html", 422, title="This cannot be used.", words=str(problem))
        found = refusal_of(problem)
        title = {404: "There is no such study.", 503: "The database does not answer."}.get(
            found.status, "This cannot be shown."
        )
        return self.page("message.html", found.status, title=title, words=str(found))


def _told(pages: Pages, handler: Callable[[Request], Any]) -> Callable[[Request], Any]:
    """The handler, with a page for every error of the library."""

    async def endpoint(request: Request) -> Response:
        try:
            return await handler(request)
        except (Wrong, SatisficeError) as problem:
            return pages.trouble(problem)

    return endpoint


def _whole(opened: Opened) -> str:
    """All that is known of a study, as JSON: what it looks for, its status, all experiments and the corrections."""
    seen = look(opened)
    rows = [{**vars(each)} for each in seen.evaluations]
    log = [] if opened.search is None else [{**each, "when": str(each["when"])} for each in opened.search.log()]
    found = {"settings": json.loads(opened.text), "status": status(opened), "experiments": rows, "corrections": log}
    return json.dumps(finite(found), allow_nan=False, indent=1)


def _excel(opened: Opened) -> bytes:
    load_extra("openpyxl", "excel")
    return excel_sheet(opened.by_hand, opened.by_hand.waiting())


def _when(moment: Any) -> str:
    """A moment in the local time of the server."""
    return "" if moment is None else f"{moment:%d %b %Y, %H:%M}"
