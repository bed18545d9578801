#include "link/other_engine.h"

#include <algorithm>
#include <utility>

#include "base/process/child.h"
#include "base/strings.h"
#include "base/try.h"
#include "link/connection.h"
#include "link/supervisor.h"
#include "link/wire.h"

namespace tutti {
namespace {

constexpr Seconds kExitGrace{0.5};  // it ends as its connection does

Result<Hello> hello_in(const std::string& bytes) {
  auto message = TRY(decode_to_control(bytes));
  auto* hello = std::get_if<Hello>(&message);
  if (!hello) return fail(Fault::corrupt, "it sent " + std::string(name_of(message)) + ", expected Hello");
  if (hello->protocol != kProtocolVersion)
    return fail(Fault::unsupported, "it speaks protocol " + std::to_string(hello->protocol) + ", expected " +
                                        std::to_string(kProtocolVersion));
  if (trimmed(hello->build_id).empty()) return fail(Fault::corrupt, "its Hello has no name, expected one in build_id");
  return std::move(*hello);
}

Result<Hello> wait_for_hello(Connection& connection, Seconds patience) {
  const auto packet = TRY(connection.receive(patience));
  if (!packet)
    return fail(Fault::device, "it sent no Hello within " + std::to_string(static_cast<int>(patience.count())) + " s");
  return hello_in(packet->message);
}

}  // namespace

bool OtherEngine::can(std::string_view option) const {
  return std::ranges::find(abilities, option) != abilities.end();
}

Result<OtherEngine> meet_engine(std::string_view command, Seconds patience) {
  auto words = TRY(split_words(command));
  if (words.empty()) return fail(Fault::usage, "expected a program and its arguments, found nothing");
  OtherEngine engine{.command = {.words = std::move(words)}};
  auto pair = TRY(Connection::make_pair());
  Connection connection(std::move(pair.first), "the engine");
  const auto child = TRY(Child::start({.name = engine.command.words.front(),
                                       .command = engine.command.words,
                                       .environment = {{"CUDA_VISIBLE_DEVICES", ""}},
                                       .handed = {{pair.second.get(), kWorkerSocket}}}));
  pair.second = OwnedFd();  // or its end would not show
  const auto hello = wait_for_hello(connection, patience);
  connection.shut();
  const ChildEnd& end = child->end(kExitGrace);
  if (!hello)
    return fail(hello.error().fault,
                joined(engine.command.words, " ") + ": " + hello.error().what +
                    evidence_of(*child, hello.error().fault == Fault::device, end.words),
                "docs/engines.md has the protocol that an engine speaks");
  engine.name = trimmed(hello->build_id);
  for (const std::string_view ability : split(hello->abilities, ','))
    if (const auto name = trimmed(ability); !name.empty()) engine.abilities.emplace_back(name);
  return engine;
}

}  // namespace tutti
