#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "base/periodic_thread.h"
#include "jobs/job_admin.h"
#include "serve/alerts/alert_rules.h"
#include "serve/alerts/webhook.h"

namespace tutti {

struct AlertOptions {
  WebhookOptions webhook{};  // without an address there are no alerts
  AlertLimits limits{};
  std::string model{};  // model of this server, named in every alert; empty: it watches what others do
};

/// Looks at a store every two seconds, and sends what AlertRules finds to a webhook. Owns a thread for each of the two,
/// so that neither a slow store nor a slow address holds up the server.
class AlertWatch {
 public:
  /// `store` outlives it. An error: the webhook cannot be used.
  static Result<std::unique_ptr<AlertWatch>> start(const AlertOptions& options, JobAdmin& store);
  AlertWatch(const AlertOptions& options, JobAdmin& store, std::unique_ptr<Webhook> webhook);

 private:
  void look();
  bool may_begin(const JobCounts& counts);

  const std::string model_;
  JobAdmin& store_;
  AlertRules rules_;  // the constructor's, then the looking thread's
  std::unique_ptr<Webhook> webhook_;
  std::unique_ptr<PeriodicThread> looking_{};
};

/// What a webhook gets: {"alert", "state": "firing" or "resolved", "text", "at", "host", "model", "jobs"}. `at`: Unix
/// seconds.
std::string alert_json(const Alert& alert, double at, const std::string& host, const std::string& model);

}  // namespace tutti
