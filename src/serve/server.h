#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/units.h"
#include "jobs/store_url.h"
#include "serve/alerts/alert_watch.h"
#include "serve/api.h"
#include "serve/http/http_server.h"
#include "serve/jobs/job_files.h"
#include "transcribe/service/speech_service.h"
#include "transcribe/stop_signal.h"

namespace tutti {

struct ServeOptions {
  HttpServerOptions http{};
  SpeechServiceOptions speech{};
  ApiOptions api;                     // with a model: it is loaded, and requests are transcribed
  JobFilesOptions job_files{};        // what jobs may name beside uploads; its folder and sizes are those of the others
  std::size_t jobs_a_client = 10000;  // that have not ended
  std::optional<Seconds> keep_jobs{};  // that have ended, with their results; none: until they are removed
  int most_live = 0;                   // clients that stream live audio at once; 0: three for each core
  bool dashboard = true;
  std::optional<StoreUrl> server{};  // the store that the page shows, instead of that in the folder; without a model
  AlertOptions alerts{};             // its webhook's address empty: no alerts
  /// For what is in work once the server is to stop. Longer: a restart takes longer. Shorter: the clients of long
  /// recordings get an error, and have to send them again.
  Seconds drain{600};
  std::optional<Seconds> idle_timeout{};  // without a request or a job it ends after so long; none: never
};

/// What ended a server in good order.
enum class ServeEnd { requested, idle };

// The service as a whole: the network, the API and the devices, from its start to the end of its last request.

/// Serves until `stop` is raised or the idle time is over, then ends what is in work: nothing new is begun, and who
/// reads /readyz is sent away. `listening` is called once with the port, before the model is loaded. An error: it could
/// not listen, the model cannot be loaded, or every device has failed. Fault::cancelled: work was cut off, by an abort
/// or after `drain`.
Result<ServeEnd> serve(const ServeOptions& options, StopSignal& stop,
                       const std::function<void(std::uint16_t)>& listening);

}  // namespace tutti
