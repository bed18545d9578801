#pragma once
// See gloo/context.h.

namespace gloo::transport {
class Device;
class UnboundBuffer {
 public:
  virtual ~UnboundBuffer() = default;
};
}  // namespace gloo::transport
