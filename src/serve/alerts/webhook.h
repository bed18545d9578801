#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/units.h"

namespace tutti {

struct WebhookOptions {
  std::string url{};
  Seconds patience{10};            // for one answer
  Seconds first_wait{1};           // before the second try; five times as long before each later one
  int tries = 6;                   // about thirteen minutes in all
  std::size_t most_waiting = 100;  // messages; further ones push the oldest out, with a warning
};

/// POSTs JSON to an address of the administrator's, in order, from a thread of its own: callers never wait. What is not
/// answered with a 2xx status is sent again after a pause; a 4xx status but 408 and 429 is final. Each message that is
/// given up is a warning in the log, which does not show the address's path: it may be a secret. Thread-safe.
class Webhook {
 public:
  /// Fault::usage for an address that is none; an error where libcurl is not on this machine.
  static Result<std::unique_ptr<Webhook>> start(WebhookOptions options);
  /// What still waits is dropped; takes a second at most.
  virtual ~Webhook() = default;

  virtual void send(std::string json) = 0;
};

}  // namespace tutti
