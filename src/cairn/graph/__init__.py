"""What code consists of and how it hangs together: outlines, control flow, data flow and slices."""
