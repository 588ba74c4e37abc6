"""What code consists of and how it hangs together: outlines, flow and slices of files, and the graph of symbols."""
