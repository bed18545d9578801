#include <c10/core/InferenceMode.h>

#include <deque>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/log.h"
#include "base/owned.h"
#include "device/machine.h"
#include "link/connection.h"
#include "link/messages.h"
#include "link/wire.h"
#include "model/cpu/compute_team.h"
#include "model/device_name.h"
#include "worker/commands.h"
#include "worker/cuda_driver.h"
#include "worker/speaker_server.h"
#include "worker/window_server.h"

namespace tutti {
namespace {

/// A message, and what came beside it: its descriptor, or of a window for the loaded model its log-mel.
struct IncomingMessage {
  ToWorker message{};
  OwnedFd memory{};
  std::optional<Result<WindowMel>> mel{};
};

/// Where the loaded model has its windows received; null until then.
using SharedRing = Guarded<std::shared_ptr<MelRing>>;

/// Messages on their way from the thread that reads the socket to the one that computes. Not bounded: the control side
/// counts its windows in flight.
class Inbox {
 public:
  void put(IncomingMessage incoming) {
    box_.change([&](Box& box) { box.messages.push_back(std::move(incoming)); });
  }
  /// No more will come.
  void close() {
    box_.change([](Box& box) { box.closed = true; });
  }

  struct IncomingMessages {
    std::deque<IncomingMessage> messages{};
    bool closed = false;  // after these
  };
  /// Everything that has arrived; waits for something first if `wait`.
  IncomingMessages take(bool wait) {
    const auto ready = [&](const Box& box) { return !wait || box.closed || !box.messages.empty(); };
    return box_.wait(ready, [](Box& box) { return IncomingMessages{std::exchange(box.messages, {}), box.closed}; });
  }

 private:
  struct Box {
    std::deque<IncomingMessage> messages{};
    bool closed = false;
  };
  Guarded<Box> box_;
};

/// The worker's voice. Both threads send.
class Outbox {
 public:
  Outbox(Connection& connection, std::optional<InjectedFault> fault) : connection_(connection), fault_(fault) {}

  void send(const ToControl& message) {
    if (fault_ && std::holds_alternative<Decoded>(message) && answered_++ == fault_->after) {
      commit(*fault_, connection_.fd());
    }
    // A connection that fails ends the reading thread, and with it the worker: nothing more to do here.
    std::ignore = connection_.send(encode_message(message));
  }

 private:
  Connection& connection_;
  std::optional<InjectedFault> fault_;
  std::int32_t answered_ = 0;  // only the computing thread sends Decoded
};

/// Until the control side hangs up or sends what no control of ours would send.
void receive_messages(Connection& connection, Outbox& outbox, Inbox& inbox, const SharedRing& mels) {
  for (;;) {
    auto packet = connection.receive();
    if (!packet) break;
    if (!*packet) continue;
    auto message = decode_to_worker((*packet)->message);
    if (!message) {
      log(Level::error, "message from the control process: " + message.error().text());
      break;
    }
    if (const auto* ping = std::get_if<Ping>(&*message)) {
      outbox.send(Pong{.sequence = ping->sequence});
      continue;
    }
    IncomingMessage incoming{std::move(*message), std::move((*packet)->fd)};
    const auto* window = std::get_if<OpenWindow>(&incoming.message);
    const auto ring = window ? mels.with([](const auto& of_model) { return of_model; }) : nullptr;
    if (ring) incoming.mel.emplace(ring->receive(*window, std::move(incoming.memory)));
    inbox.put(std::move(incoming));
  }
  inbox.close();
}

/// What the computing thread keeps between messages.
class MessageHandler {
 public:
  /// mels: gets the loaded model's.
  MessageHandler(const WorkerSetup& options, Outbox& outbox, SharedRing& mels)
      : options_(options), outbox_(outbox), mels_(mels) {}

  bool has_work() const { return server_ && server_->has_work(); }
  bool broken() const { return (server_ && server_->broken()) || (speakers_ && speakers_->broken()); }
  void work() {
    if (has_work()) server_->work();
  }

  void take(IncomingMessage incoming) {
    if (const auto* load = std::get_if<LoadModel>(&incoming.message)) return this->load(*load);
    if (const auto* speakers = std::get_if<AnalyzeSpeakers>(&incoming.message)) return analyze(*speakers, incoming);
    if (!server_) return outbox_.send(Failed{.fault = Fault::usage, .what = "no model is loaded"});
    std::visit(
        [&](const auto& message) {
          using Message = std::decay_t<decltype(message)>;
          if constexpr (std::is_same_v<Message, OpenWindow>) server_->open(message, mel_of(message, incoming));
          if constexpr (std::is_same_v<Message, DetectLanguage> || std::is_same_v<Message, DecodeWindow> ||
                        std::is_same_v<Message, AlignWindow>)
            server_->request(message);
          if constexpr (std::is_same_v<Message, ReleaseWindow>) server_->release(message);
          if constexpr (std::is_same_v<Message, TranscribeWindow>)
            outbox_.send(Failed{.window = message.window, .fault = Fault::unsupported, .what = "no PCM is taken here"});
        },
        incoming.message);
  }

 private:
  /// What the reading thread received, or left because no model was loaded yet.
  Result<WindowMel> mel_of(const OpenWindow& message, IncomingMessage& incoming) const {
    if (incoming.mel) return std::move(*incoming.mel);
    return server_->mels()->receive(message, std::move(incoming.memory));
  }

  void analyze(const AnalyzeSpeakers& message, IncomingMessage& incoming) {
    if (!speakers_)
      return outbox_.send(Failed{.window = message.window, .fault = Fault::usage, .what = "no device is chosen"});
    outbox_.send(speakers_->answer(message, std::move(incoming.memory)));
  }

  /// Without a model: who speaks is all that is found.
  void load_speakers_alone(const LoadModel& message) {
    const auto device = device_named(message.device);
    if (!device) return outbox_.send(Failed{.fault = device.error().fault, .what = device.error().text()});
    set_compute_threads(message.threads, read_cpu().cores);
    speakers_.emplace(*device);
    const auto gpu = device->is_cuda() ? visible_cuda_device(index_of(*device)) : std::nullopt;
    outbox_.send(Ready{.device_name = gpu ? gpu->name : "CPU", .compute_type = "float32"});
  }

  void load(const LoadModel& message) {
    if (speakers_) return outbox_.send(Failed{.fault = Fault::usage, .what = "a model is loaded already"});
    if (message.model_path.empty() && !options_.load) return load_speakers_alone(message);
    if (server_) return outbox_.send(Failed{.fault = Fault::usage, .what = "a model is loaded already"});
    const auto begun = Clock::real().now();
    auto model = options_.load ? options_.load(message) : load_model(message, options_.build_id);
    if (!model) return outbox_.send(Failed{.fault = model.error().fault, .what = model.error().text()});
    const WhisperDims& dims = model->network->dims();
    Ready ready{.device_name = model->device_name,
                .compute_type = model->compute_type,
                .n_mels = dims.n_mels,
                .n_audio_ctx = dims.n_audio_ctx,
                .n_text_ctx = dims.n_text_ctx,
                .n_vocab = dims.n_vocab,
                .slots = model->slots,
                .window_seconds = model->window_seconds};
    server_.emplace(
        std::move(*model), [this](const ToControl& answer) { outbox_.send(answer); }, Clock::real());
    if (const auto prepared = server_->prepare(); !prepared) {
      server_.reset();
      return outbox_.send(Failed{.fault = prepared.error().fault, .what = prepared.error().text()});
    }
    mels_.with([&](auto& of_model) { of_model = server_->mels(); });
    speakers_.emplace(device_named(message.device).value_or(at::kCPU));
    ready.load_seconds = Seconds(Clock::real().now() - begun).count();
    outbox_.send(ready);
  }

  const WorkerSetup& options_;
  Outbox& outbox_;
  SharedRing& mels_;
  std::optional<WindowServer> server_{};
  std::optional<SpeakerServer> speakers_{};
};

}  // namespace

int run_worker(OwnedFd socket, const WorkerSetup& options) {
  Connection connection(std::move(socket), "the control process");
  Outbox outbox(connection, options.fault);
  Inbox inbox;
  const auto gpu = visible_cuda_device(0);
  outbox.send(Hello{.build_id = options.build_id, .device_uuid = gpu ? gpu->uuid : ""});
  SharedRing mels;
  std::thread reader([&] { receive_messages(connection, outbox, inbox, mels); });

  const c10::InferenceMode no_autograd;
  MessageHandler handler(options, outbox, mels);
  for (bool closed = false; !closed && !handler.broken();) {
    auto received = inbox.take(!handler.has_work());
    closed = received.closed;
    if (closed) break;
    for (auto& incoming : received.messages) handler.take(std::move(incoming));
    handler.work();
  }
  connection.shut();
  reader.join();
  return handler.broken() ? 1 : 0;
}

}  // namespace tutti
