#pragma once

#include "base/clock.h"
#include "base/idle_timer.h"
#include "serve/api.h"
#include "serve/jobs/job_service.h"
#include "transcribe/service/speech_service.h"

namespace tutti {

/// Whether a server has been idle for so long that it may end. The time runs from the end of the latest request of a
/// client with a token, or of the latest job. It does not run while a request or a job is in work, a job waits, or the
/// model is being loaded. Who looks at the page, or at whether the server is up, does not count. One thread.
class IdleWatch {
 public:
  /// `service` and `jobs` are null where there are none; all outlive it.
  IdleWatch(Seconds limit, const Api& api, SpeechService* service, const JobService* jobs)
      : timer_(limit), api_(api), service_(service), jobs_(jobs) {}

  /// To be called often: what begins and ends between two calls is seen where it is a request.
  bool is_over();

 private:
  bool works() const;

  IdleTimer timer_;
  const Api& api_;
  SpeechService* const service_;
  const JobService* const jobs_;
  Clock::Instant last_end_ = Clock::real().now();
};

}  // namespace tutti
