import java.util.logging.Level;
import java.util.logging.Logger;
import org.lttng.ust.agent.context.ContextInfoManager;
import org.lttng.ust.agent.context.IContextInfoRetriever;
import org.lttng.ust.agent.jul.LttngLogHandler;

/** Sends messages of java.util.logging to the agent, with contexts of its own. */
public class JulMessages {
    /** Knows an integer, a text, and nothing else. */
    private static class Retriever implements IContextInfoRetriever {
        @Override
        public Object retrieveContextInfo(String key) {
            switch (key) {
            case "number":
                return 7L;
            case "text":
                return "some text";
            default:
                return null;
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        LttngLogHandler handler = new LttngLogHandler();
        Logger[] loggers = {Logger.getLogger("app"), Logger.getLogger("app.sub"), Logger.getLogger("other")};
        Retriever retriever = new Retriever();
        ContextInfoManager.getInstance().registerContextInfoRetriever("mine", retriever);
        for (Logger logger : loggers) {
            logger.setUseParentHandlers(false);
            logger.addHandler(handler);
            logger.setLevel(Level.ALL);
        }
        if (arguments.length > 0) {
            System.out.println("ready");
            System.in.read();
        }
        for (Logger logger : loggers) {
            logger.fine("fine");
            logger.info("info");
            logger.warning("warning");
            logger.severe("severe");
        }
        ContextInfoManager.getInstance().unregisterContextInfoRetriever("mine");
        for (Logger logger : loggers) {
            logger.removeHandler(handler);
        }
        // Closed, it would wait for its thread that sleeps as there is no daemon of the user, or of root.
    }
}
