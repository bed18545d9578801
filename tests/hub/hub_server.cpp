#include "hub/hub_server.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <stdexcept>

#include "base/files.h"
#include "base/json.h"

namespace tutti {
namespace {

struct Pipe {
  OwnedFd read;
  OwnedFd write;
};

Pipe open_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  return {OwnedFd(ends[0]), OwnedFd(ends[1])};
}

std::string first_line(int fd) {
  std::string line;
  for (char c = 0; ::read(fd, &c, 1) == 1 && c != '\n';) line.push_back(c);
  return line;
}

}  // namespace

HubServer::HubServer(std::filesystem::path root, const std::string& faults) : root_(std::move(root)) {
  const std::string script = std::string(TUTTI_SOURCE_DIR) + "/tests/hub/hub_server.py";
  Pipe input = open_pipe(), output = open_pipe();
  child_ = ::fork();
  if (child_ < 0) throw std::runtime_error("no child process");
  if (child_ == 0) {
    ::dup2(input.read.get(), STDIN_FILENO);
    ::dup2(output.write.get(), STDOUT_FILENO);
    ::execlp("python3", "python3", script.c_str(), root_.c_str(), faults.c_str(), nullptr);
    ::_exit(127);
  }
  output.write = OwnedFd();
  input_ = std::move(input.write);
  endpoint_ = first_line(output.read.get());
  if (endpoint_.empty()) throw std::runtime_error("the local hub did not start; it needs python3");
}

HubServer::~HubServer() {
  input_ = OwnedFd();
  ::waitpid(child_, nullptr, 0);
}

std::vector<SeenRequest> HubServer::requests() const {
  std::vector<SeenRequest> seen;
  std::ifstream log(root_ / "requests.jsonl");
  for (std::string line; std::getline(log, line);) {
    const auto note = nlohmann::json::parse(line);
    seen.push_back({note["server"], note["path"], note["range"], note["authorization"]});
  }
  return seen;
}

void write_model(const std::filesystem::path& folder, int floats) {
  std::string bytes(static_cast<std::size_t>(floats) * sizeof(float), '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31);
  const std::string header =
      nlohmann::json{{"w", {{"dtype", "F32"}, {"shape", {floats}}, {"data_offsets", {0, bytes.size()}}}}}.dump();
  const std::uint64_t length = header.size();
  std::string weights(sizeof length, '\0');
  std::memcpy(weights.data(), &length, sizeof length);
  for (const auto& [name, content] :
       std::vector<std::pair<std::string, std::string>>{{"model.safetensors", weights + header + bytes},
                                                        {"config.json", R"({"model_type": "whisper"})"},
                                                        {"tokenizer.json", R"({"model": {}})"}})
    if (auto written = write_file_atomically(folder / name, content); !written)
      throw std::runtime_error(written.error().text());
}

}  // namespace tutti
