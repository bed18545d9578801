// A worker without a model: speaks the whole protocol, answers by arithmetic on what it was sent, and misbehaves as its
// arguments say. Each argument is name=value:
//
//   build=ID uuid=ID protocol=N   the fields of its Hello
//   load=exit|hang|missing        instead of getting ready
//   after=N                       decodings answered well before it does...
//   then=crash|hang|garble|stall|exhausted|repeat   ...this
//   poison=W                      crashes on a request to decode window W
//   once=FILE                     does all of the above only in the process that creates FILE; later ones work well
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "link/connection.h"
#include "link/shared_window.h"
#include "link/wire.h"

using namespace tutti;

namespace {

class ScriptedWorker {
 public:
  explicit ScriptedWorker(std::map<std::string, std::string> script)
      : script_(std::move(script)), connection_(OwnedFd(kWorkerSocket), "the control process") {
    if (const auto once = script_.find("once"); once != script_.end())
      good_ = ::open(once->second.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600) < 0;
  }

  int run() {
    reply(Hello{
        .protocol = static_cast<std::uint32_t>(std::stoul(reported("protocol", std::to_string(kProtocolVersion)))),
        .build_id = reported("build", "scripted"),
        .device_uuid = reported("uuid", std::getenv("CUDA_VISIBLE_DEVICES"))});
    while (auto packet = connection_.receive()) {
      auto message = decode_to_worker((*packet)->message);
      if (!message) return 9;
      fd_ = std::move((*packet)->fd);
      std::visit([&](const auto& order) { obey(order); }, *message);
    }
    return 0;
  }

 private:
  std::string reported(const std::string& name, const std::string& otherwise) const {
    const auto at = script_.find(name);
    return good_ || at == script_.end() ? otherwise : at->second;
  }

  void reply(const ToControl& message) {
    if (!connection_.send(encode_message(message))) std::exit(0);
  }
  void note(const std::string& what) { reply(LogLine{.level = 1, .text = what + " " + std::to_string(::getpid())}); }

  [[noreturn]] static void hang() {
    for (;;) ::pause();
  }

  void obey(const LoadModel& order) {
    const std::string load = reported("load", "well");
    if (load == "exit") {
      std::fputs("the last words\n", stderr);
      std::exit(7);
    }
    if (load == "hang") hang();
    if (load == "missing") return reply(Failed{.fault = Fault::missing, .what = order.model_path + ": no such model"});
    note("ready as process");
    reply(Ready{
        .device_name = "scripted", .compute_type = order.compute_type, .n_mels = 80, .n_audio_ctx = 1500, .slots = 8});
  }

  void obey(const OpenWindow& order) {
    auto view = WindowView::map(std::move(fd_), static_cast<std::size_t>(order.values()));
    if (!view) return reply(Failed{.window = order.window, .fault = view.error().fault, .what = view.error().what});
    double sum = 0;
    for (const float value : view->values()) sum += static_cast<double>(value);
    sums_[order.window] = sum;
    reply(Opened{.window = order.window, .encode_seconds = 0.25});
  }

  void obey(const DetectLanguage& order) {
    reply(Language{.window = order.window, .tokens = {1, 2}, .probabilities = {0.75F, 0.25F}});
  }

  void obey(const DecodeWindow& order) {
    if (reported("poison", "") == std::to_string(order.window)) std::abort();
    const std::string then = reported("then", "");
    if (!then.empty() && decoded_++ >= std::stoi(reported("after", "0"))) return misbehave(then, order);
    answer(order);
  }

  void obey(const AlignWindow& order) {
    Aligned aligned{.window = order.window, .request = order.request, .seconds = 0.5};
    for (std::size_t i = 0; i <= order.text_tokens.size(); ++i) aligned.starts.push_back(static_cast<std::int32_t>(i));
    aligned.probabilities.assign(order.text_tokens.size(), 0.5F);
    reply(aligned);
  }

  void answer(const DecodeWindow& order) {
    const double sum = sums_.at(order.window);
    Decoded decoded{.window = order.window, .request = order.request, .tokens = order.prompt, .sum_logprob = sum};
    decoded.tokens.push_back(static_cast<std::int32_t>(order.window));
    decoded.avg_logprob = static_cast<double>(order.temperature);
    decoded.steps = static_cast<std::int32_t>(decoded.tokens.size());
    decoded.seconds = 0.5;
    reply(decoded);
  }

  void misbehave(const std::string& then, const DecodeWindow& order) {
    note(then + " of process");
    if (then == "crash") std::abort();
    if (then == "hang") hang();
    if (then == "garble" && !connection_.send("\xff\xff nonsense")) std::exit(0);
    if (then == "exhausted")
      reply(
          Failed{.window = order.window, .request = order.request, .fault = Fault::exhausted, .what = "out of memory"});
    if (then == "repeat") answer(order), answer(order);
    // A stall sends nothing more about this window and goes on answering pings.
  }

  void obey(const TranscribeWindow& order) {
    reply(Transcribed{.window = order.window,
                      .seconds = 0.5,
                      .transcript = order.language + " " + order.options + " " +
                                    std::to_string(std::lround(sums_.at(order.window)))});
  }

  void obey(const AnalyzeSpeakers& order) {
    reply(SpeakersAnalyzed{.window = order.window, .seconds = 0.5, .values = {static_cast<float>(order.window)}});
  }

  void obey(const ReleaseWindow& order) { sums_.erase(order.window); }
  void obey(const Ping& order) { reply(Pong{order.sequence}); }

  std::map<std::string, std::string> script_;
  bool good_ = false;
  Connection connection_;
  OwnedFd fd_;
  std::map<WindowId, double> sums_;
  int decoded_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  std::map<std::string, std::string> script;
  for (const std::string& argument : std::vector<std::string>(arguments + 1, arguments + count)) {
    const auto equals = argument.find('=');
    if (equals == std::string::npos) return 8;
    script[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  return ScriptedWorker(std::move(script)).run();
}
