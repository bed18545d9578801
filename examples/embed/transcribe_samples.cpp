// Transcribes samples in memory and prints each segment as soon as it is there; then begins again, and cancels.
//
//   transcribe_samples FOLDER MODEL FILE.wav      FOLDER has the programs `tutti` and `tutti-engine`
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/program_paths.h"
#include "tutti/whisper_model.h"

namespace {

int fail_with(const tutti::Error& error) {
  std::fprintf(stderr, "transcribe_samples: %s\n", error.text().c_str());
  return 1;
}

/// The samples of a WAV file of 16 kHz, mono, 16 bits with a header of 44 bytes, as an array of floats would have them.
std::vector<float> samples_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  std::vector<float> samples;
  for (std::size_t i = 44; i + 1 < bytes.size(); i += 2)
    samples.push_back(static_cast<float>(static_cast<unsigned char>(bytes[i]) | bytes[i + 1] << 8) / 32768);
  return samples;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: transcribe_samples FOLDER MODEL FILE.wav\n"), 2;
  tutti::set_program_paths(tutti::ProgramPaths::in(argv[1]));

  auto model = tutti::WhisperTranscriber::load({.model = argv[2], .devices = "cpu"});
  if (!model) return fail_with(model.error());
  const std::vector<float> samples = samples_of(argv[3]);
  auto recording = tutti::RecordingInput::of_samples(samples);
  if (!recording) return fail_with(recording.error());
  auto transcription = model->transcribe(std::move(*recording), {.long_form = {.language = "en"}});
  for (;;) {
    const auto segment = transcription.next();
    if (!segment) return fail_with(segment.error());
    if (!*segment) break;
    std::printf("%.2f to %.2f s:%s\n", (*segment)->start, (*segment)->end, (*segment)->text.c_str());
  }

  auto again = tutti::RecordingInput::of_samples(samples);
  if (!again) return fail_with(again.error());
  auto cancelled = model->transcribe(std::move(*again));
  cancelled.cancel();
  const auto end = cancelled.whole();
  std::printf("%s\n",
              !end && end.error().fault == tutti::Fault::cancelled ? "cancelled" : "done before it was cancelled");
  return 0;
}
