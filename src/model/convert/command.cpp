#include "model/convert/command.h"

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/process/exit_code.h"
#include "model/convert/convert_model.h"

namespace tutti {
namespace {

Result<ConvertRequest> read_line(std::span<char*> arguments) {
  ConvertRequest request;
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
    const std::string_view name = arguments[i];
    const std::string_view value = arguments[i + 1];
    if (name == "--model") {
      request.model = value;
    } else if (name == "--into") {
      request.into = value;
    } else if (const auto type = weight_type_named(value); name == "--type" && type) {
      request.type = *type;
    } else {
      return fail(Fault::usage, "convert: " + std::string(name) + " " + std::string(value) + " is not understood");
    }
  }
  if (arguments.size() % 2 == 0 && !request.model.empty() && !request.into.empty()) return request;
  return fail(Fault::usage, "convert needs --model PATH --into FOLDER|NAME.pt [--type float32|float16|bfloat16|int8]");
}

/// Only here can memory run out, or a broken promise of ours end.
Result<ConvertedModel> convert(const ConvertRequest& request) {
  try {
    return convert_model(request);
  } catch (const std::exception& problem) {
    return fail(Fault::internal, request.model.string() + ": " + problem.what());
  }
}

void print(const ConvertRequest& request, const ConvertedModel& model) {
  const auto& d = model.shape.dims;
  std::printf("%s: Whisper of %d + %d layers, %d wide, %d mel bins, %d tokens\n", request.into.c_str(), d.n_audio_layer,
              d.n_text_layer, d.n_text_state, d.n_mels, d.n_vocab);
  std::printf("%.1f million weights in %s, %.1f MB\n", static_cast<double>(model.parameters) / 1e6,
              std::string(name_of(request.type)).c_str(), static_cast<double>(model.bytes) / 1e6);
}

}  // namespace

int convert_command(std::span<char*> arguments) {
  const auto request = read_line(arguments);
  const auto converted = request ? convert(*request) : tl::unexpected<Error>(request.error());
  if (converted) {
    print(*request, *converted);
    return kDone;
  }
  log(Level::error, converted.error().text());
  return converted.error().fault == Fault::usage ? kUsage : kNothingRan;
}

}  // namespace tutti
