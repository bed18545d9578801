#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/error.h"
#include "base/units.h"
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
  bool dashboard = true;
  AlertOptions alerts{};  // its webhook's address empty: no alerts
  /// For what is in work once the server is to stop. Longer: a restart takes longer. Shorter: the clients of long
  /// recordings get an error, and have to send them again.
  Seconds drain{600};
};

// The service as a whole: the network, the API and the devices, from its start to the end of its last request.

/// Serves until `stop` is raised, then ends what is in work: nothing new is begun, and who reads /readyz is sent
/// away. `listening` is called once with the port, before the model is loaded. An error: it could not listen, the model
/// cannot be loaded, or every device has failed. Fault::cancelled: work was cut off, by an abort or after `drain`.
Result<void> serve(const ServeOptions& options, StopSignal& stop, const std::function<void(std::uint16_t)>& listening);

}  // namespace tutti
