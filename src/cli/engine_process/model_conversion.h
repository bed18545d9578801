#pragma once

#include <filesystem>
#include <string>

namespace tutti {

/// Whether a person's word means a model rather than a transcript: a path to one, or the name of one.
bool names_model(const std::string& word);

/// Has the engine write the model `word` names as a new Hugging Face folder, or as OpenAI's file NAME.pt, with weights
/// of type `type`; its output and errors are ours. Returns the exit code.
int convert_model_by_engine(const std::string& word, const std::filesystem::path& into, const std::string& type);

}  // namespace tutti
