#pragma once

#include "transcribe/stop_signal.h"

namespace tutti {

/// For runs that a test lets end by themselves.
class NeverStops final : public StopSignal {
 public:
  bool raised() const override { return false; }
  void on_raise(const std::function<void()>& /*raise*/) override {}
  void on_abort(const std::function<void()>& /*abort*/) override {}
};

}  // namespace tutti
