#include "serve/server.h"

#include "base/guarded.h"
#include "base/log.h"
#include "jobs/open_store.h"

namespace tutti {
namespace {

constexpr Seconds kLookEvery{0.5};  // at whether the devices are gone
constexpr Seconds kLastAnswers{5};  // for answers that are made, and not sent yet

enum class Ending { none, requested, aborted };

/// Waits until the server is to stop; an error: it cannot go on.
Result<void> wait_for_end(SpeechService& service, Guarded<Ending>& ending) {
  bool announced = false;
  while (!ending.wait_for(kLookEvery, [](Ending now) { return now != Ending::none; })) {
    if (auto over = service.over(); over && over->fault != Fault::cancelled) return tl::unexpected<Error>(*over);
    if (!announced && service.ready()) {
      announced = true;
      log(Level::info, "the model is loaded: ready for requests");
    }
  }
  return {};
}

/// Lets what is in work end. False: it was cut off.
bool drained(SpeechService& service, HttpServer& http, Guarded<Ending>& ending, Seconds most) {
  const auto until = Clock::real().now() + std::chrono::duration_cast<Clock::Instant::duration>(most);
  while (!service.wait_until_idle(Seconds(0.1))) {
    if (Clock::real().now() >= until) return false;
    if (ending.with([](Ending now) { return now == Ending::aborted; })) return false;
  }
  http.finish(kLastAnswers);
  return true;
}

}  // namespace

Result<void> serve(const ServeOptions& options, StopSignal& stop, const std::function<void(std::uint16_t)>& listening) {
  auto store = open_store({.folder = options.speech.pool.state});
  if (!store) return tl::unexpected<Error>(store.error());
  auto service = SpeechService::start(options.speech, **store);
  if (!service) return tl::unexpected<Error>(service.error());
  Api api(options.api, **service);
  auto http = HttpServer::start(options.http, api);
  if (!http) return tl::unexpected<Error>(http.error());
  listening((*http)->port());

  Guarded<Ending> ending{Ending::none};
  stop.on_raise([&] { ending.change([](Ending& now) { now = Ending::requested; }); });
  stop.on_abort([&] { ending.change([](Ending& now) { now = Ending::aborted; }); });
  const auto ended = wait_for_end(**service, ending);
  bool whole = true;
  if (ended) {
    api.drain();
    log(Level::info, "stopping: what is in work ends, nothing new is begun");
    whole = drained(**service, **http, ending, options.drain);
  }
  stop.on_raise({});
  stop.on_abort({});
  (*service)->stop();
  (*http)->finish(Seconds(1));
  if (!ended) return ended;
  if (!whole) return fail(Fault::cancelled, "requests in work were cut off");
  return {};
}

}  // namespace tutti
