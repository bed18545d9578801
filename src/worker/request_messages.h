#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/error.h"
#include "decode/batcher.h"
#include "decode/sequence_request.h"
#include "link/messages.h"

namespace tutti {

// A request as the control side sends it, as the batcher takes it, and its answer. One is made of the other here alone,
// so that a field is added to both directions at once. All are pure: any thread may call them at any time.

/// Where a worker's answers go.
using Reply = std::function<void(const ToControl&)>;

/// window: encoded, and kept alive by the request. Not checked: that is check() of decode/sequence_request.h.
SequenceRequest request_of(const DecodeWindow& message, std::shared_ptr<const CrossKv> window);

/// The message that `request` was made of. A request that is taken back from the batcher waits as its message until its
/// window is encoded again.
DecodeWindow message_of(const SequenceRequest& request);

/// result: of a request that has an outcome; one that failed is answered by Failed instead. Times are in seconds of the
/// steps that the request took part in, its share of each.
Decoded answer_to(const DecodeResult& result);

/// window, request: 0 where it is about none.
Failed failure_of(WindowId window, std::uint64_t request, const Error& error);

Error no_such_window(WindowId id);

}  // namespace tutti
