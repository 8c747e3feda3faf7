// SPDX-License-Identifier: Apache-2.0
//
// What one thread writes to a file and another reads back orders them: through the same descriptor, another
// one of the same file, streams of C and C++, and a FIFO that was opened by name.
//
// EXPECT-NO-RACE
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <string>
#include <thread>

int through_number, through_name, through_stdio, through_stream, through_fifo;
std::string folder;

template <typename Read>
void until_it_is_there(Read read) {
  while (!read()) std::this_thread::yield();
}

void write_all(int file) {
  char byte = 'x';
  through_number = 1;
  if (pwrite(file, &byte, 1, 0) != 1) abort();
  through_name = 1;
  int named = open((folder + "/named").c_str(), O_CREAT | O_WRONLY, 0600);
  if (named < 0 || write(named, &byte, 1) != 1) abort();
  close(named);
  through_stdio = 1;
  FILE* stream = fopen((folder + "/stdio").c_str(), "w");
  fputs("text", stream);
  fclose(stream);
  through_stream = 1;
  std::ofstream(folder + "/stream") << "text" << std::flush;
  int fifo = open((folder + "/fifo").c_str(), O_WRONLY);
  through_fifo = 1;
  if (fifo < 0 || write(fifo, &byte, 1) != 1) abort();
  close(fifo);
}

int read_all(int file) {
  char byte = 0;
  int sum = 0;
  until_it_is_there([&] { return pread(file, &byte, 1, 0) == 1; });
  sum += through_number;
  int named = -1;
  until_it_is_there([&] {
    if (named < 0) named = open((folder + "/named").c_str(), O_RDONLY);
    return named >= 0 && read(named, &byte, 1) == 1;
  });
  close(named);
  sum += through_name;
  until_it_is_there([&] {
    FILE* stream = fopen((folder + "/stdio").c_str(), "r");
    bool there = stream && fgetc(stream) == 't';
    if (stream) fclose(stream);
    return there;
  });
  sum += through_stdio;
  until_it_is_there([] {
    std::string word;
    return static_cast<bool>(std::ifstream(folder + "/stream") >> word);
  });
  sum += through_stream;
  int fifo = open((folder + "/fifo").c_str(), O_RDONLY);
  if (fifo < 0 || read(fifo, &byte, 1) != 1) abort();
  close(fifo);
  return sum + through_fifo;
}

int main() {
  char pattern[] = "/tmp/duress_file_contents_XXXXXX";
  folder = mkdtemp(pattern);
  int file = open((folder + "/number").c_str(), O_CREAT | O_RDWR, 0600);
  if (file < 0 || mkfifo((folder + "/fifo").c_str(), 0600) != 0) return 1;
  int sum = 0;
  std::thread one(write_all, file), two([&] { sum = read_all(file); });
  one.join();
  two.join();
  for (const char* name : {"/number", "/named", "/stdio", "/stream", "/fifo"})
    unlink((folder + name).c_str());
  rmdir(folder.c_str());
  return sum == 5 ? 0 : 1;
}
