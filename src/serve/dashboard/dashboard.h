#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "jobs/history.h"
#include "jobs/job_admin.h"
#include "serve/access.h"
#include "serve/dashboard/fleet_source.h"
#include "serve/http/http.h"

namespace tutti {

struct DashboardOptions {
  std::string model{};  // what clients call it; empty: this server transcribes nothing
  std::string state{};  // the store's folder
};

/// The page at "/", what it reads under /api, and what it does. Who has no token sees states and figures, no names and
/// no text, and changes nothing; a client also sees and steers its own work, and an operator all. Owns a thread that
/// looks once a second, and one that answers, because stores and other processes may take their time. Thread-safe.
class Dashboard {
 public:
  using Begun = std::variant<HttpAnswer, std::unique_ptr<HttpBody>>;

  /// The references outlive it.
  static std::unique_ptr<Dashboard> start(DashboardOptions options, FleetSource& fleet, JobAdmin& jobs,
                                          RunHistory& history);
  virtual ~Dashboard() = default;

  /// Whether it has this path.
  virtual bool has(const std::string& path) const = 0;
  /// `viewer`: whose token the request has; none: it has no valid one.
  virtual Begun begin(const HttpHead& head, const std::optional<ApiClient>& viewer) = 0;
  /// Ends the streams of all pages that are open: the server stops.
  virtual void close_streams() = 0;
};

}  // namespace tutti
