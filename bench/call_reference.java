// Writes what javac says each call of a project is to, in the form of call_reference.py.
//
//   java bench/call_reference.java FOLDER [CLASSPATH] > reference.jsonl

import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import javax.lang.model.element.*;
import javax.tools.*;

class CallReference {
    static Path root;
    static Trees trees;

    public static void main(String[] args) throws Exception {
        root = Path.of(args[0]).toRealPath();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
        List<Path> sources;
        try (Stream<Path> all = Files.walk(root)) {
            // A file that declares a module makes the compiler refuse the packages of others.
            sources = all.filter(path -> path.toString().endsWith(".java") && !path.endsWith("module-info.java")).toList();
        }
        List<String> options = new ArrayList<>(List.of("-proc:none", "-Xmaxerrs", "1"));
        if (args.length > 1) options.addAll(List.of("-classpath", args[1]));
        JavacTask task = (JavacTask) compiler.getTask(
            new PrintWriter(Writer.nullWriter()), files, problem -> {}, options, null,
            files.getJavaFileObjectsFromPaths(sources));
        trees = Trees.instance(task);
        Iterable<? extends CompilationUnitTree> units = task.parse();
        task.analyze();
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (CompilationUnitTree unit : units) new Calls(unit, out).scan(unit, null);
        out.flush();
    }

    static class Calls extends TreePathScanner<Void, Void> {
        final CompilationUnitTree unit;
        final PrintStream out;

        Calls(CompilationUnitTree unit, PrintStream out) {
            this.unit = unit;
            this.out = out;
        }

        @Override public Void visitMethodInvocation(MethodInvocationTree call, Void nothing) {
            ExpressionTree callee = call.getMethodSelect();
            Element element = trees.getElement(new TreePath(getCurrentPath(), callee));
            String name = callee instanceof MemberSelectTree select ? select.getIdentifier().toString() : callee.toString();
            write(callee, name, element);
            return super.visitMethodInvocation(call, nothing);
        }

        @Override public Void visitNewClass(NewClassTree creation, Void nothing) {
            ExpressionTree type = creation.getIdentifier();
            if (type instanceof ParameterizedTypeTree generic) type = (ExpressionTree) generic.getType();
            String name = type instanceof MemberSelectTree select ? select.getIdentifier().toString() : type.toString();
            if (creation.getClassBody() == null) write(type, name, trees.getElement(getCurrentPath()));
            return super.visitNewClass(creation, nothing);
        }

        void write(Tree callee, String name, Element element) {
            long end = trees.getSourcePositions().getEndPosition(unit, callee);
            if (end < 0) return;
            long line = unit.getLineMap().getLineNumber(end - 1);
            boolean known = element != null && element.asType().getKind() != javax.lang.model.type.TypeKind.ERROR
                && element instanceof ExecutableElement;
            List<String> targets = new ArrayList<>();
            if (known) {
                TreePath place = trees.getPath(element);
                Element owner = element.getEnclosingElement();
                String called = element.getKind() == ElementKind.CONSTRUCTOR ? owner.getSimpleName().toString() : element.getSimpleName().toString();
                if (place == null) place = trees.getPath(owner);  // a constructor that nobody wrote
                if (place != null) {
                    CompilationUnitTree other = place.getCompilationUnit();
                    long start = trees.getSourcePositions().getStartPosition(other, place.getLeaf());
                    targets.add("[" + quoted(path(other)) + ", " + other.getLineMap().getLineNumber(Math.max(0, start)) + ", " + quoted(called) + "]");
                }
            }
            out.println("[" + quoted(path(unit)) + ", " + line + ", " + quoted(name) + ", " + (known ? targets.toString() : "null") + "]");
        }
    }

    static String path(CompilationUnitTree unit) {
        return root.relativize(Path.of(unit.getSourceFile().toUri())).toString();
    }

    static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
