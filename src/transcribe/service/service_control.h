#pragma once

#include <optional>
#include <string>
#include <vector>

#include "transcribe/pool/device_pool.h"
#include "transcribe/pool/pool_machine.h"
#include "transcribe/service/request_queue.h"
#include "transcribe/service/speech_service.h"

namespace tutti {

/// Cancels a request, and notifies the listener of one that was not in work.
void cancel_request(RequestQueue& queue, const RequestQueue::Run& run);

/// A service's devices and requests, for people. Borrows all of it.
class RequestControl final : public ServiceControl {
 public:
  RequestControl(const SpeechServiceOptions& options, DevicePool& pool, const PoolMachine& machine, RequestQueue& queue)
      : options_(options), pool_(pool), machine_(machine), queue_(queue) {}

  FleetStatus status() const override;
  std::vector<MetricSnapshot> metrics() const override;
  bool cancel(const std::string& id) override;
  bool drain(const std::string& device) override { return pool_.drain(device_id(options_.pool.devices, device)); }
  bool resume(const std::string& device) override { return pool_.resume(device_id(options_.pool.devices, device)); }
  std::optional<std::string> held() const override;

 private:
  const SpeechServiceOptions& options_;
  DevicePool& pool_;
  const PoolMachine& machine_;
  RequestQueue& queue_;
};

}  // namespace tutti
